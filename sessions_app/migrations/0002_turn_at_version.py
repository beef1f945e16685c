from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('sessions_app', '0001_initial'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='turn',
            index=models.Index(fields=['agent_session', 'state_version', 'number'], name='turn_at_version'),
        ),
    ]
