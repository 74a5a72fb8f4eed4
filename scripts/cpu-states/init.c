/*
 * An init that prints what the kernel says about the CPU's vulnerabilities, a line for each, and
 * reboots, by which pathmeter ends it. scripts/cpu-states.sh boots it.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#define FOLDER "/sys/devices/system/cpu/vulnerabilities"

static void show(const char *name)
{
	char path[sizeof(FOLDER) + 256], state[512];
	ssize_t length;
	int file;

	snprintf(path, sizeof(path), FOLDER "/%s", name);
	file = open(path, O_RDONLY);
	if (file < 0)
		return;
	length = read(file, state, sizeof(state) - 1);
	close(file);
	if (length <= 0)
		return;
	state[length] = '\0';
	state[strcspn(state, "\n")] = '\0';
	printf("state %s: %s\n", name, state);
}

int main(void)
{
	struct dirent **found;
	int console, count, i;

	mkdir("/sys", 0755);
	mkdir("/dev", 0755);
	mount("sysfs", "/sys", "sysfs", 0, NULL);
	mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
	console = open("/dev/console", O_RDWR);
	dup2(console, STDOUT_FILENO);
	count = scandir(FOLDER, &found, NULL, alphasort);
	for (i = 0; i < count; i++)
		if (found[i]->d_name[0] != '.')
			show(found[i]->d_name);
	printf("state end\n");
	fflush(stdout);
	tcdrain(STDOUT_FILENO);
	return reboot(RB_AUTOBOOT);
}
