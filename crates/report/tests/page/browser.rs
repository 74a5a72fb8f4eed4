//! The page in headless Chromium, where there is one: `chromium` on PATH, or what
//! `PATHMETER_CHROMIUM` names. With `PATHMETER_PAGE_TEST` set, as `make page-test` does, there must
//! be one.
//!
//! A script of the test's is added to the page, which uses it as a person does and writes what it
//! saw into the document; the browser prints that. Any error, refused script or request ends in the
//! same list.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

use sha2::{Digest, Sha256};

use crate::scene::{comparison, everything, history, page, single};

/// What each test begins with: a list of what was seen, and of all that must not happen.
const BEFORE: &str = r#"
const seen = [];
const see = (what) => seen.push(String(what));
addEventListener("error", (event) => see("error: " + event.message), true);
addEventListener("securitypolicyviolation", (event) => see("refused: " + event.violatedDirective));
const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const press = (key) => document.activeElement.dispatchEvent(
    new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
const shown = (elements) => elements.filter((it) => it.getClientRects().length > 0);
addEventListener("load", () => {
    try { use(); } catch (error) { see("error: " + error); }
    // What was refused is told in tasks of its own, which a busy machine may have left for later.
    setTimeout(tell, 500);
});
const tell = () => {
    for (const entry of performance.getEntriesByType("resource")) see("request: " + entry.name);
    const told = document.createElement("pre");
    told.id = "seen";
    told.textContent = seen.join("\n");
    document.body.append(told);
};
const use = () => {
"#;

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("PATHMETER_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = named.or_else(|| {
        let mut all = std::env::split_paths(&path).map(|folder| folder.join("chromium"));
        all.find(|file| file.is_file())
    });
    if found.is_none() {
        assert!(std::env::var_os("PATHMETER_PAGE_TEST").is_none(), "there is no chromium");
        eprintln!("skipped: there is no chromium");
    }
    found
}

/// What a script that uses the page sees, a line each; None without a browser.
fn using(page: &str, script: &str) -> Option<Vec<String>> {
    let chromium = chromium()?;
    let script = format!("{BEFORE}{script}\n}};");
    let digest = Sha256::digest(script.as_bytes());
    let admitted =
        page.replacen("script-src '", &format!("script-src 'sha256-{}' '", base64(&digest)), 1);
    let page = admitted.replacen("<style>", &format!("<script>{script}</script><style>"), 1);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("page.html");
    std::fs::write(&file, page).unwrap();
    let dom = printed(&chromium, &file, folder.path());
    let (_, seen) = dom.split_once("<pre id=\"seen\">").unwrap_or_else(|| panic!("{dom}"));
    let (seen, _) = seen.split_once("</pre>").unwrap();
    Some(seen.lines().map(|line| line.replace("&gt;", ">").replace("&lt;", "<")).collect())
}

fn printed(chromium: &Path, file: &Path, folder: &Path) -> String {
    let ran = Command::new(chromium)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--window-size=1200,900", "--virtual-time-budget=2000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for digit in 0..=chunk.len() {
            text.push(char::from(DIGITS[(bits >> (18 - 6 * digit)) as usize & 63]));
        }
    }
    text + &"=".repeat((3 - bytes.len() % 3) % 3)
}

#[test]
fn all_kinds_of_sections_work_and_nothing_is_fetched() {
    let script = "see(document.documentElement.dataset.ready); see(window.hit); \
                  for (const button of all('button.open')) button.click(); \
                  see(all('.flame > svg').length === all('.flame').length);";
    let Some(seen) = using(&page(&everything()), script) else { return };
    assert_eq!(seen, ["yes", "undefined", "true"]);
}

#[test]
fn what_must_not_happen_is_seen_if_it_does() {
    let hostile = "<img src=\"http://127.0.0.1:9/x\"><p onclick=\"hit=1\" style=\"color:red\"></p>\
                   <script>window.hit = 1</script></main>";
    let page = page(&[comparison()]).replacen("</main>", hostile, 1);
    let Some(seen) = using(&page, "see(window.hit); none.none();") else { return };
    let count = |what: &str| seen.iter().filter(|line| line.starts_with(what)).count();
    for what in ["img-src", "script-src-attr", "style-src-attr"] {
        assert_eq!(count(&format!("refused: {what}")), 1, "{seen:?}");
    }
    assert!(count("error: ReferenceError") == 1 && count("request: http") == 1, "{seen:?}");
    assert!(seen.contains(&"undefined".to_owned()), "{seen:?}");
}

#[test]
fn a_row_opens_and_its_call_tree_is_drawn_and_zoomed() {
    let script = "const button = one('button.open'), detail = one('tr.detail');
        see(shown([detail]).length + ' ' + button.getAttribute('aria-expanded'));
        button.click();
        see(shown([detail]).length + ' ' + button.getAttribute('aria-expanded'));
        const boxes = all('.flame > svg > svg', detail);
        see(boxes.map((box) => box.textContent).slice(0, 2).join(', '));
        const last = boxes[boxes.length - 1];
        last.dispatchEvent(new MouseEvent('click', { bubbles: true }));
        see(last.textContent + ' ' + last.getAttribute('class') + ' ' + last.getAttribute('width'));
        button.click();
        see(shown([detail]).length);";
    let Some(seen) = using(&page(&[comparison()]), script) else { return };
    let expected = [
        "0 false",
        "1 true",
        "[task 1] +34, do_syscall_64 +34",
        "finish_task_switch +34 up2 100%",
        "0",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn a_link_leads_to_a_row_and_opens_it() {
    let script = "one('.filter input').value = 'pipe';
        one('.filter input').dispatchEvent(new Event('input'));
        const row = document.getElementById('file.stat');
        see(shown([row]).length);
        location.hash = '#file.stat'; dispatchEvent(new Event('hashchange'));
        see(shown([row, one('.detail', row)]).length);
        see(all('a').map((it) => it.getAttribute('href')).includes('#file.stat'));";
    let Some(seen) = using(&page(&[comparison()]), script) else { return };
    assert_eq!(seen, ["0", "2", "true"]);
}

#[test]
fn a_table_sorts_and_filters() {
    let script = "const names = () => shown(all('tbody > tr:first-child .open', one('.paths')))
            .map((it) => it.textContent).join(' ');
        const heading = (name) =>
            all('.paths > thead button').find((it) => it.textContent === name);
        see(names());
        heading('base').click(); see(names());
        heading('base').click(); see(names() + ' ' + heading('base').parentElement.ariaSort);
        heading('verdict').click(); see(names());
        const input = one('.filter input');
        input.value = 'task_switch YIELD'; input.dispatchEvent(new Event('input'));
        see(names() + ': ' + one('output').textContent);
        input.value = ''; input.dispatchEvent(new Event('input'));
        one('.chip.lower').click(); see(names());
        one('.chip.lower').click(); see(all('.chip').length + ' ' + names().split(' ').length);";
    let Some(seen) = using(&page(&[comparison()]), script) else { return };
    let expected = [
        "switch.yield file.stat switch.pipe flags.isolation getcpu.rdpid",
        "switch.pipe switch.yield file.stat flags.isolation getcpu.rdpid",
        "flags.isolation getcpu.rdpid file.stat switch.yield switch.pipe ascending",
        "switch.yield file.stat switch.pipe flags.isolation getcpu.rdpid",
        "switch.yield: 1 of 5 shown",
        "file.stat",
        "4 5",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn the_heat_map_is_relative_to_any_kernel_and_opens_differences() {
    let script = "const row = () => all('.heat tbody tr')[0];
        const texts = () => all('button', row()).map((it) => it.textContent).join(' ');
        see(texts());
        const select = one('.history select');
        select.value = '2'; select.dispatchEvent(new Event('change')); see(texts());
        select.value = 'before'; select.dispatchEvent(new Event('change')); see(texts());
        see(all('button', row())[2].className);
        all('button', row())[0].focus(); press('ArrowRight'); press('ArrowRight');
        see(document.activeElement === all('button', row())[2]);
        see(all('.heat button[tabindex=\"0\"]').length);
        document.activeElement.click();
        const dialog = one('dialog');
        const change = all('p', dialog)[1].textContent;
        see(dialog.open + ' ' + one('h2', dialog).textContent + ' ' + change);
        see(all('tbody tr', dialog).map((it) => it.textContent).join(' '));
        one('.close', dialog).click(); see(dialog.open);
        const input = one('.history input');
        input.value = 'pipe'; input.dispatchEvent(new Event('input'));
        see(shown(all('.heat tbody tr')).length + ' ' + one('.history output').textContent);";
    let Some(seen) = using(&page(&[history()]), script) else { return };
    let expected = [
        "2,500 +20 +21",
        "-18 -1.1 3,034",
        "2,500 +20 +1.1",
        "shade up2",
        "true",
        "1",
        "true switch.yield 3,000 → 3,034: higher, +34 (+1.1 %)",
        "finish_task_switch2,8502,884+34",
        "false",
        "1 1 of 3 shown",
    ];
    assert_eq!(seen, expected);
}

#[test]
fn the_first_table_shows_before_a_second_has_passed() {
    let script =
        "see(performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd < 1000)";
    let Some(seen) = using(&page(&[single()]), script) else { return };
    assert_eq!(seen, ["true"]);
}
