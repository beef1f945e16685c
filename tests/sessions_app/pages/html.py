"""Reading a page as a person does: its forms, links and words."""

from html import unescape
from html.parser import HTMLParser


class _Page(HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.words = []
        self.links = []
        self.forms = []
        self.marked = {}
        self._silent = 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag in ("script", "style", "title"):
            self._silent += tag != "title"
        if tag == "a" and "href" in attrs:
            self.links.append(attrs["href"])
        if tag == "form":
            self.forms.append(
                {"action": attrs.get("action", ""), "method": attrs.get("method", "get"), "fields": []}
            )
        if tag in ("input", "button", "textarea") and self.forms and attrs.get("name"):
            self.forms[-1]["fields"].append((attrs["name"], attrs.get("value", ""), tag))
        for name in (attrs.get("class") or "").split():
            self.marked.setdefault(name, []).append(attrs)

    def handle_endtag(self, tag):
        if tag in ("script", "style"):
            self._silent -= 1

    def handle_data(self, data):
        if not self._silent:
            self.words.append(data)


class Page:
    """An answer, parsed."""

    def __init__(self, response):
        self.response = response
        self.source = response.content.decode()
        self._parsed = _Page()
        self._parsed.feed(self.source)

    @property
    def text(self):
        """All words, with single spaces."""
        return " ".join(unescape("".join(self._parsed.words)).split())

    @property
    def links(self):
        return self._parsed.links

    def with_class(self, name):
        """The attributes of all elements of a class."""
        return self._parsed.marked.get(name, [])

    def form(self, ending):
        """The fields of the form whose action ends so; of buttons the first of a name counts."""
        form = next(form for form in self._parsed.forms if form["action"].endswith(ending))
        fields = {}
        for name, value, tag in form["fields"]:
            if tag != "button" or name not in fields:
                fields[name] = value
        return form["action"], fields

    def has_form(self, ending):
        return any(form["action"].endswith(ending) for form in self._parsed.forms)


def send(client, page, ending, **changed):
    """Send a form of a page as a browser does, with some fields typed over."""
    action, fields = page.form(ending)
    return client.post(action, fields | changed)
