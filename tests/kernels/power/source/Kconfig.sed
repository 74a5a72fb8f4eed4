# Offer the options of the table of power.
$a source "Kconfig.power"
