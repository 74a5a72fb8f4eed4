# Each place has bytes, as many as it has in no kernel of power/config.
/^config POWER_TEXT$/,/default/s/default 0/default 240/
/^config POWER_MIDDLE_TEXT$/,/default/s/default 0/default 1040/
/^config POWER_RODATA$/,/default/s/default 0/default 40/
/^config POWER_DATA$/,/default/s/default 0/default 192/
/^config POWER_BSS$/,/default/s/default 0/default 8256/
/^config POWER_READ_MOSTLY$/,/default/s/default 0/default 320/
/^config POWER_PERCPU$/,/default/s/default 0/default 192/
