from django.db import migrations, models


class Migration(migrations.Migration):
    """What waits and what was given up is counted and listed without reading what was delivered."""

    dependencies = [("webhooks", "0002_delivery_of_memory")]

    operations = [
        migrations.AddIndex(
            model_name="delivery",
            index=models.Index(fields=["webhook", "state", "id"], name="delivery_by_state"),
        ),
    ]
