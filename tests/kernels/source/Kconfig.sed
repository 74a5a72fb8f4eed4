# Offer the options of the fixtures.
$a source "Kconfig.fixtures"
