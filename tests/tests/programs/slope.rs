//! Slopes of a number among a program's arguments; tests/programs/slope.c has N calls, and work for
//! N * N / 2 pairs.

use pathmeter_e2e::{Scene, built};
use serde_json::{Value, json};

use super::program;

const NUMBERS: [u64; 4] = [10, 20, 30, 40];

fn find<'a>(rows: &'a Value, field: &str, name: &str) -> &'a Value {
    rows.as_array().unwrap().iter().find(|row| row[field] == name).unwrap()
}

fn whole(numerator: i64) -> Value {
    json!({"numerator": numerator, "denominator": 1})
}

#[test]
fn what_one_more_costs_is_exact_in_rows_and_a_square_is_found_in_a_region() {
    let (scene, base, slope) = (Scene::warm(), built("base"), program("slope"));
    let run = |more: &[&str], argument: &str| {
        scene.run(&[&["run", &base, "--json"], more, &["--", &slope, argument]].concat()).json()
    };
    let result = run(&["--slope", "N=10,20,30,40"], "N");
    assert_eq!(result["numbers"], json!(NUMBERS));
    let getppid = find(&result["rows"], "row", "getppid");
    let each = getppid["values"][0].as_i64().unwrap() / 10;
    assert!(each > 10, "{getppid}");
    let function = &getppid["function"];
    assert_eq!(
        function,
        &json!({
            "constant": whole(0), "per_unit": whole(each), "per_square": whole(0),
        })
    );
    // Two instructions for each of N * N / 2 pairs.
    let pairs = find(&result["rows"], "row", "user.pairs");
    assert_eq!(pairs["function"]["per_square"], whole(1), "{pairs}");
    assert_eq!(pairs["function"]["per_unit"], whole(0), "{pairs}");
    let user = find(&result["rows"], "row", "user code");
    assert_eq!(user["function"]["per_square"], whole(1), "{user}");
    // The same numbers as of the program by itself.
    let alone = run(&[], "20");
    for row in [getppid, pairs, user] {
        let of_result = find(&alone["paths"], "path", row["row"].as_str().unwrap());
        assert_eq!(row["values"][1], of_result["estimate"]["value"], "{row}");
    }
}
