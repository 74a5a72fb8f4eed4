//! A cluster without nodes, on this machine's loopback: etcd, the API server and the Job
//! controller.
//!
//! Contract: its processes end with it, and with the thread that made it, whatever ends that.

use std::path::{Path, PathBuf};
use std::process::Command;

use pathmeter_e2e::{Run, Running, Scene, free_ports};
use serde_json::{Value, json};

/// A cluster. Dropping it kills it.
pub(super) struct Cluster {
    programs: PathBuf,
    servers: Vec<Running>,
    /// Its files; another scene than those of its pods, which may have nothing else running.
    scene: Scene,
}

impl Cluster {
    /// Starts one of these programs, and waits until it can be used.
    pub(super) fn start(programs: &Path) -> Self {
        let scene = Scene::cold();
        let mut cluster = Self { programs: programs.to_owned(), servers: Vec::new(), scene };
        let [clients, peers, api] = free_ports();
        cluster.configure(api);
        cluster.serve("etcd", &etcd(clients, peers));
        cluster.serve("kube-apiserver", &api_server(clients, api));
        // Nothing can be created before there is the name space.
        cluster.await_success(&["get", "namespace", "default"]);
        cluster.serve("kube-controller-manager", &CONTROLLER.map(str::to_owned));
        cluster
    }

    /// The Job that `file` has; its name.
    pub(super) fn create(&self, file: &Path) -> String {
        let create = ["create", "-o", "name", "-f", file.to_str().unwrap()];
        self.kubectl(&create).succeeded().stdout.trim_end().to_owned()
    }

    /// The status of a Job.
    pub(super) fn status(&self, job: &str) -> Value {
        self.kubectl(&["get", job, "-o", "json"]).json()["status"].take()
    }

    /// A pod that waits for a node.
    pub(super) fn pending(&self) -> Option<Value> {
        let get = ["get", "pods", "--field-selector", "status.phase=Pending", "-o", "json"];
        let mut pods = self.kubectl(&get).json();
        let pods = pods["items"].as_array_mut().unwrap().iter_mut();
        pods.map(Value::take).find(|pod| pod["metadata"]["deletionTimestamp"].is_null())
    }

    /// Tells what a pod's status is.
    pub(super) fn report(&self, pod: &str, status: &Value) {
        let patch = json!({ "status": status }).to_string();
        let fixed = ["patch", "pod", pod, "--subresource=status", "--type=merge", "-p"];
        self.kubectl(&[&fixed[..], &[&patch]].concat()).succeeded();
    }

    /// What a user needs, and the server to know the user.
    fn configure(&self, api: u16) {
        let token = format!("{:032x}", fastrand::u128(..));
        self.scene.write("tokens.csv", format!("{token},test,test,system:masters\n"));
        let (server, named) = (format!("https://127.0.0.1:{api}"), "test");
        // Its certificate is made when it starts.
        let cluster = json!({ "server": server, "insecure-skip-tls-verify": true });
        let config = json!({
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{ "name": named, "cluster": cluster }],
            "users": [{ "name": named, "user": { "token": token } }],
            "contexts": [{ "name": named, "context": { "cluster": named, "user": named } }],
            "current-context": named,
        });
        self.scene.write("kubeconfig", config.to_string());
    }

    fn serve(&mut self, program: &str, arguments: &[String]) {
        let program = self.programs.join(program);
        let fixed = ["--pdeathsig", "KILL", program.to_str().unwrap()];
        let arguments = arguments.iter().map(String::as_str);
        let all: Vec<&str> = fixed.into_iter().chain(arguments).collect();
        self.servers.push(Running::start(self.scene.marked("setpriv", &all)));
    }

    fn await_success(&mut self, arguments: &[&str]) {
        // It ends if etcd does.
        let mut server = self.servers.pop().unwrap();
        let succeeds = || self.kubectl(arguments).code == 0;
        server.until("an answer of the API server", succeeds);
        self.servers.push(server);
    }

    fn kubectl(&self, arguments: &[&str]) -> Run {
        Running::start(self.command(arguments)).wait()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.scene.marked(self.programs.join("kubectl"), arguments);
        command.env("KUBECONFIG", self.scene.path("kubeconfig"));
        // It keeps what the server can do.
        command.env("HOME", self.scene.path(""));
        command
    }
}

const CONTROLLER: [&str; 4] = [
    "--kubeconfig=kubeconfig",
    "--leader-elect=false",
    "--secure-port=0",
    "--controllers=job-controller,garbage-collector-controller",
];

fn etcd(clients: u16, peers: u16) -> [String; 6] {
    let [clients, peers] = [clients, peers].map(|port| format!("http://127.0.0.1:{port}"));
    [
        "--data-dir=etcd".to_owned(),
        format!("--listen-client-urls={clients}"),
        format!("--advertise-client-urls={clients}"),
        format!("--listen-peer-urls={peers}"),
        format!("--initial-advertise-peer-urls={peers}"),
        format!("--initial-cluster=default={peers}"),
    ]
}

fn api_server(clients: u16, api: u16) -> Vec<String> {
    let fixed = [
        "--bind-address=127.0.0.1",
        "--cert-dir=certificates",
        "--token-auth-file=tokens.csv",
        "--authorization-mode=AlwaysAllow",
        // Pods have no account, and no service is asked for.
        "--disable-admission-plugins=ServiceAccount",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.0.0.0/24",
        "--service-account-issuer=https://kubernetes.default.svc",
        // It makes this one before it reads it.
        "--service-account-signing-key-file=certificates/apiserver.key",
        "--service-account-key-file=certificates/apiserver.key",
    ];
    let ports =
        [format!("--etcd-servers=http://127.0.0.1:{clients}"), format!("--secure-port={api}")];
    fixed.map(str::to_owned).into_iter().chain(ports).collect()
}

/// The condition of this type of a Job; null if it has none.
pub(super) fn condition<'a>(status: &'a Value, kind: &str) -> &'a Value {
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    conditions.find(|condition| condition["type"] == kind).unwrap_or(&Value::Null)
}
