"""The one settings file; every variable comes through `env`, all are listed in docs/configuration.md."""

from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from statebase_site import env

BASE_DIR = env.ROOT
STATEBASE_HOME = env.home()
VERSION = "0.1.0"

DEBUG = env.flag("STATEBASE_DEBUG", False)
SECRET_KEY = env.secret_key()
ALLOWED_HOSTS = env.words("STATEBASE_ALLOWED_HOSTS", ["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.words("STATEBASE_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "statebase_site.apps.StateBaseSiteConfig",
    "statebase_site.access.apps.AccessConfig",
    "statebase_site.webhooks.apps.WebhooksConfig",
    "sessions_app.apps.SessionsAppConfig",
    "incidents_app.apps.IncidentsAppConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django_htmx",
    "django_tables2",
    "django_filters",
    "ninja",
    "axes",
]

MIDDLEWARE = [
    "statebase_site.web.middleware.RequestMiddleware",
    "django.middleware.security.SecurityMiddleware",
    "statebase_site.access.authentication.KeyMiddleware",  # answers /v1; what follows is for browsers
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "statebase_site.access.middleware.SignInMiddleware",  # every page but those marked otherwise
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "axes.middleware.AxesMiddleware",
    "statebase_site.web.pages.PageErrorMiddleware",
]

ROOT_URLCONF = "statebase_site.urls"
WSGI_APPLICATION = "statebase_site.wsgi.application"
APPEND_SLASH = False

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "statebase_site.access.context.page",
                "statebase_site.page_context.incidents",
            ],
            "builtins": ["statebase_site.web.templatetags.ui"],
        },
    },
]


def _database() -> dict:
    url = env.text("DATABASE_URL")
    if not url:
        url = f"sqlite:///{env.private_file('statebase.sqlite3')}"
    try:
        database: dict[str, Any] = dict(dj_database_url.parse(url))
    except (dj_database_url.ParseError, dj_database_url.UnknownSchemeError, ValueError) as error:
        raise ImproperlyConfigured(
            "DATABASE_URL can't be read; write it as postgres://USER:PASSWORD@HOST:5432/NAME."
        ) from error
    options = database.setdefault("OPTIONS", {})
    if database["ENGINE"] == "django.db.backends.sqlite3":
        database["CONN_MAX_AGE"] = None  # opening a file and setting its pragmas for each request costs more
        options |= {
            "timeout": 20,
            # Read-modify-write needs the lock from the start: a deferred transaction fails when it upgrades.
            "transaction_mode": "IMMEDIATE",
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON; "
            # So that INSERT OR REPLACE, which removes the old row, meets the triggers that keep evidence.
            "PRAGMA recursive_triggers=ON;",
        }
    elif database["ENGINE"] == "django.db.backends.postgresql":
        options.setdefault("connect_timeout", 10)  # seconds; without it a wrong host hangs for minutes
        if pool := env.number("STATEBASE_DB_POOL", 0):
            options["pool"] = {"min_size": 1, "max_size": pool}
            database["CONN_MAX_AGE"] = 0
        else:
            database["CONN_MAX_AGE"] = env.number("STATEBASE_DB_CONN_MAX_AGE", 300)
            database["CONN_HEALTH_CHECKS"] = True
        if env.flag("STATEBASE_DB_PREPARED_STATEMENTS", True):
            options |= {"server_side_binding": True, "prepare_threshold": 1}
        else:  # pgbouncer in transaction mode can keep neither these nor cursors
            options["prepare_threshold"] = None
            database["DISABLE_SERVER_SIDE_CURSORS"] = True
    else:
        raise ImproperlyConfigured("DATABASE_URL must begin with postgres:// or sqlite:///.")
    return database


DATABASES = {"default": _database()}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# StateBase ----------------------------------------------------------------------------------------
MAX_BODY_BYTES = env.number("STATEBASE_MAX_BODY_BYTES", 2 * 1024 * 1024, least=1024)
MAX_STATE_BYTES = env.number("STATEBASE_MAX_STATE_BYTES", 2 * 1024 * 1024, least=1024)
# Requests a minute of a key made without saying how many; 0 = no limit (contract 4.1).
DEFAULT_RATE_LIMIT = env.number("STATEBASE_DEFAULT_RATE_LIMIT", 100)
DEFAULT_TTL_SECONDS = env.number("STATEBASE_DEFAULT_TTL_SECONDS", 86_400)  # 0 = sessions never expire
PURGE_DELETED_AFTER_DAYS = env.number("STATEBASE_PURGE_DELETED_DAYS", 7)
PURGE_EXPIRED_AFTER_DAYS = env.number("STATEBASE_PURGE_EXPIRED_DAYS", 30)
# How memories are found: "words", "wordllama", or the dotted path of a class like
# sessions_app.embedding.Embedder.
EMBEDDER = env.text("STATEBASE_EMBEDDER") or "words"
# Percent: a context whose memories have less to do with the query warns of a drift (contract 6.2).
DRIFT_RELEVANCE = env.number("STATEBASE_DRIFT_RELEVANCE_PERCENT", 50) / 100
# Whether webhooks may be sent to loopback and private networks (contract 11).
WEBHOOK_PRIVATE_NETWORKS = env.flag("STATEBASE_WEBHOOK_PRIVATE_NETWORKS", False)
WEBHOOK_DELIVERY_DAYS = env.number("STATEBASE_WEBHOOK_DELIVERY_DAYS", 30, least=1)
# In front of one proxy that sets X-Forwarded-For, its last entry is the client; 0 = no proxy.
TRUSTED_PROXIES = env.number("STATEBASE_TRUSTED_PROXIES", 0)

DATA_UPLOAD_MAX_MEMORY_SIZE = MAX_BODY_BYTES

# People -------------------------------------------------------------------------------------------
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "access:sign-in"
LOGIN_REDIRECT_URL = "overview"
LOGOUT_REDIRECT_URL = "access:sign-in"
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = 0.25  # hours
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_CLIENT_IP_CALLABLE = "statebase_site.web.requests.client_address"
AXES_LOCKOUT_CALLABLE = "statebase_site.access.views.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

# Browsers -----------------------------------------------------------------------------------------
BEHIND_TLS = env.flag("STATEBASE_BEHIND_TLS", False)
if BEHIND_TLS:
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS
SESSION_COOKIE_NAME = "statebase_session"
CSRF_COOKIE_NAME = "statebase_csrf"
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = "Lax"
SECURE_HSTS_SECONDS = 31_536_000 if BEHIND_TLS else 0
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
CSRF_FAILURE_VIEW = "statebase_site.views.csrf_failed"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

STATIC_URL = "static/"
STATIC_ROOT = STATEBASE_HOME / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

LANGUAGE_CODE = "en-us"
USE_I18N = False
USE_TZ = True
TIME_ZONE = "UTC"

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["console"], "level": env.one_of("STATEBASE_LOG_LEVEL", "WARNING", env.LOG_LEVELS)},
}
