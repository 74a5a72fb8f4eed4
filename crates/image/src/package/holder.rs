//! Which package has the kernel that another one lacks, by that other one's metadata.
//!
//! Contract: an answer is a package name in the characters that such names have, of at most
//! [`MAX_NAME_BYTES`]. No answer is given where distributions differ or the name is not enough.
//!
//! Sources: `deb-control(5)`; pacman's `PKGINFO(5)`; the kernel packages of Debian, Ubuntu, Fedora,
//! openSUSE, Arch and Alpine.

/// Longer than any package's name, version and processor.
const MAX_NAME_BYTES: usize = 128;

/// What dpkg's `control` leads to.
pub(super) fn by_control(control: &str) -> Option<String> {
    let name = control_field(control, "Package")?;
    let depends = control_field(control, "Depends").unwrap_or_default();
    // Alternatives of a dependency: `a (= 1) | b`.
    let needed = || depends.split([',', '|']).filter_map(|each| each.split_whitespace().next());
    let begins = |start: &'static str| needed().find(|need| need.starts_with(start));
    // Debian's newer linux-image-V only brings linux-binary-V, which has the files.
    let dependency = begins("linux-binary-").or_else(|| begins("linux-image-"));
    let holder = dependency.map(str::to_owned).or_else(|| image_beside(&name))?;
    let holder =
        ["-dbg", "-dbgsym"].iter().find_map(|end| holder.strip_suffix(end)).unwrap_or(&holder);
    usable(holder, &name)
}

/// The package of the kernel that these modules, headers or symbols were built with.
fn image_beside(name: &str) -> Option<String> {
    // What headers have in common belongs to no one kernel.
    if name.ends_with("-common") || name.ends_with("-all") {
        return None;
    }
    let starts = ["linux-modules-extra-", "linux-modules-", "linux-headers-"];
    let version = starts.iter().find_map(|start| name.strip_prefix(start));
    let image = version.map(|version| format!("linux-image-{version}"));
    image.or_else(|| name.starts_with("linux-image-").then(|| name.to_owned()))
}

/// A field's value, with its continuation lines.
fn control_field(control: &str, field: &str) -> Option<String> {
    let mut lines = control.lines();
    let first = lines.find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    let more = lines.take_while(|line| line.starts_with([' ', '\t']));
    let value: Vec<&str> = std::iter::once(first).chain(more).map(str::trim).collect();
    Some(value.join(" "))
}

/// What the `.PKGINFO` of pacman or apk leads to.
pub(super) fn by_pkginfo(text: &str) -> Option<String> {
    let field = |wanted: &str| {
        let fields = text.lines().filter_map(|line| line.split_once(" = "));
        fields.into_iter().find(|(key, _)| *key == wanted).map(|(_, value)| value.trim())
    };
    let name = field("pkgname")?;
    let kernel = match (field("pkgbase"), field("origin")) {
        // Arch builds a kernel's headers and documentation with it.
        (Some(base), _) if name != base => base,
        // Alpine's linux-virt-dev goes with linux-virt.
        (None, Some(_)) => name.strip_suffix("-dev").or_else(|| name.strip_suffix("-doc"))?,
        _ => return None,
    };
    let is_kernel = kernel == "linux" || kernel.starts_with("linux-");
    usable(&format!("{kernel}-{}", field("pkgver")?), name).filter(|_| is_kernel)
}

/// What the metadata of an RPM package says.
pub(super) struct RpmNames {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) release: String,
    pub(super) vendor: String,
    /// What it needs, each without its version.
    pub(super) requires: Vec<String>,
}

/// What follows a kernel's name in the names of the packages built with it.
const RPM_PARTS: [&str; 12] = [
    "-modules",
    "-devel",
    "-headers",
    "-debuginfo",
    "-debugsource",
    "-extra",
    "-optional",
    "-livepatch",
    "-macros",
    "-source",
    "-syms",
    "-doc",
];

/// What an RPM package's names lead to: a package of the same build.
pub(super) fn by_rpm(names: &RpmNames) -> Option<String> {
    let kernel = needed_core(names).or_else(|| rpm_beside(names))?;
    usable(&format!("{kernel}-{}-{}.x86_64", names.version, names.release), &names.name)
}

/// The `kernel-core` that Fedora's metapackages need, by that name or as `kernel-core-uname-r`.
fn needed_core(names: &RpmNames) -> Option<String> {
    let needed = names.requires.iter().map(|need| need.strip_suffix("-uname-r").unwrap_or(need));
    let mut cores = needed.filter(|need| {
        need.starts_with("kernel-") && need.ends_with("-core") && !need.contains("-modules")
    });
    cores.next().map(str::to_owned)
}

fn rpm_beside(names: &RpmNames) -> Option<String> {
    let name = &names.name;
    let end = RPM_PARTS.iter().filter_map(|part| name.find(part)).min()?;
    let kernel = name.get(..end).filter(|kernel| kernel.starts_with("kernel"))?;
    if names.vendor.contains("SUSE") {
        return Some(if kernel == "kernel" { "kernel-default" } else { kernel }.to_owned());
    }
    // Others, such as Amazon's and those of Red Hat until 7, have it in `kernel`, or elsewhere.
    let has_core = [".fc", ".el8", ".el9", ".el10"].iter().any(|tag| names.release.contains(tag));
    has_core.then(|| format!("{kernel}-core"))
}

/// `holder`, if it may be a package's name and is not that of the package itself.
fn usable(holder: &str, own: &str) -> Option<String> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"+-._~^:".contains(&byte);
    let usable = holder.len() <= MAX_NAME_BYTES && holder.bytes().all(fits) && holder != own;
    usable.then(|| holder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn control(name: &str, depends: &str) -> Option<String> {
        by_control(&format!("Package: {name}\nVersion: 1\nDepends: {depends}\nSection: kernel\n"))
    }

    #[test]
    fn a_debian_stub_depends_on_what_has_the_kernel() {
        let depends = "kmod, linux-base (>= 4.12~),\n linux-binary-6.16.3+deb14-amd64 (= 6.16.3-1)";
        let holder = control("linux-image-6.16.3+deb14-amd64", depends);
        assert_eq!(holder.as_deref(), Some("linux-binary-6.16.3+deb14-amd64"));
    }

    #[test]
    fn a_metapackage_depends_on_the_image() {
        let holder = control("linux-image-amd64", "linux-image-6.1.0-56-amd64 (= 6.1.192-2)");
        assert_eq!(holder.as_deref(), Some("linux-image-6.1.0-56-amd64"));
        let holder =
            control("linux-image-amd64-dbg", "linux-image-6.1.0-56-amd64-dbg (= 6.1.192-2)");
        assert_eq!(holder.as_deref(), Some("linux-image-6.1.0-56-amd64"));
    }

    #[test]
    fn modules_headers_and_symbols_are_named_like_their_image() {
        for name in [
            "linux-modules-6.8.0-31-generic",
            "linux-modules-extra-6.8.0-31-generic",
            "linux-headers-6.8.0-31-generic",
            "linux-image-6.8.0-31-generic-dbgsym",
        ] {
            let holder = control(name, "libc6");
            assert_eq!(holder.as_deref(), Some("linux-image-6.8.0-31-generic"), "{name}");
        }
    }

    #[test]
    fn what_names_no_kernel_leads_nowhere() {
        for name in
            ["linux-headers-6.1.0-56-common", "linux-base", "linux-image-6.1.0-56-amd64", "bash"]
        {
            assert_eq!(control(name, "libc6 (>= 2), debconf | cdebconf"), None, "{name}");
        }
        assert_eq!(by_control("Depends: linux-image-1\n"), None);
        assert_eq!(control("linux-image-amd64", "linux-image-\u{1b}[2J"), None);
        assert_eq!(control("linux-image-amd64", &format!("linux-image-{}", "1".repeat(128))), None);
    }

    #[test]
    fn arch_and_alpine_build_headers_with_their_kernel() {
        let arch =
            "# makepkg\npkgname = linux-lts-headers\npkgbase = linux-lts\npkgver = 6.6.30-1\n";
        assert_eq!(by_pkginfo(arch).as_deref(), Some("linux-lts-6.6.30-1"));
        let alpine = "pkgname = linux-virt-dev\npkgver = 6.6.30-r0\norigin = linux-lts\n";
        assert_eq!(by_pkginfo(alpine).as_deref(), Some("linux-virt-6.6.30-r0"));
    }

    #[test]
    fn packages_of_no_kernel_lead_nowhere() {
        // Alpine's linux-headers are those of the C library.
        let headers = "pkgname = linux-headers\npkgver = 6.6-r0\norigin = linux-headers\n";
        let other = "pkgname = gcc-libs\npkgbase = gcc\npkgver = 14-1\n";
        let itself = "pkgname = linux\npkgbase = linux\npkgver = 6.9-1\n";
        for text in [headers, other, itself, "", "pkgname = linux-headers\npkgbase = linux\n"] {
            assert_eq!(by_pkginfo(text), None, "{text}");
        }
    }

    fn rpm(name: &str, release: &str, vendor: &str, requires: &[&str]) -> Option<String> {
        by_rpm(&RpmNames {
            name: name.to_owned(),
            version: "6.8.5".to_owned(),
            release: release.to_owned(),
            vendor: vendor.to_owned(),
            requires: requires.iter().map(|need| (*need).to_owned()).collect(),
        })
    }

    #[test]
    fn fedora_has_the_kernel_in_its_core_package() {
        let needs =
            ["kernel-modules-core-uname-r", "kernel-core-uname-r", "kernel-modules-uname-r"];
        let core = Some("kernel-core-6.8.5-301.fc40.x86_64");
        assert_eq!(rpm("kernel", "301.fc40", "Fedora Project", &needs).as_deref(), core);
        for name in ["kernel-modules", "kernel-modules-extra", "kernel-devel", "kernel-debuginfo"] {
            let holder = rpm(name, "301.fc40", "Fedora Project", &["kernel-uname-r"]);
            assert_eq!(holder.as_deref(), core, "{name}");
        }
        let debug = rpm("kernel-debug-modules-core", "301.fc40", "Fedora Project", &[]);
        assert_eq!(debug.as_deref(), Some("kernel-debug-core-6.8.5-301.fc40.x86_64"));
    }

    #[test]
    fn suse_has_the_kernel_in_the_package_of_its_flavour() {
        let suse = |name| rpm(name, "1.1", "SUSE LLC <https://www.suse.com/>", &[]);
        assert_eq!(suse("kernel-rt-devel").as_deref(), Some("kernel-rt-6.8.5-1.1.x86_64"));
        assert_eq!(suse("kernel-macros").as_deref(), Some("kernel-default-6.8.5-1.1.x86_64"));
    }

    #[test]
    fn other_rpm_packages_lead_nowhere() {
        assert_eq!(rpm("kernel-devel", "1.el7", "Red Hat, Inc.", &[]), None);
        assert_eq!(rpm("bash-devel", "1.fc40", "Fedora Project", &["glibc"]), None);
        assert_eq!(rpm("kernel", "1.fc40", "Fedora Project", &["kernel-\u{1b}[2J-core"]), None);
    }
}
