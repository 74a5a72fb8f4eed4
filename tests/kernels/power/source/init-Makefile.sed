# Ahead of nearly all other objects.
/^obj-y .*main\.o/s/:= /:= power_layout.o /
