use pathmeter_vm::*;
use std::time::{Duration,Instant};
fn main(){
 let path=std::path::PathBuf::from(std::env::args().nth(1).unwrap());
 let starts:u32=std::env::args().nth(2).unwrap().parse().unwrap();
 let cache=Cache::at("/tmp/k/cache".into()).unwrap();
 let qemu=Qemu::find(None).unwrap();
 let paths:Vec<_>=pathmeter_probes::paths().map(|p|(p.name,p.windows)).collect();
 let t=Instant::now();
 let load=||pathmeter_image::load(&path);
 let interrupt=Interrupt::default();
 let settings=Settings{append:std::env::var("APPEND").unwrap_or_default(),..Settings::default()};
 let last=std::sync::Mutex::new((Instant::now(),String::new(),std::collections::BTreeMap::<String,Duration>::new()));
 let progress=|p:Progress<'_>|{ let mut l=last.lock().unwrap(); match p{Progress::Walking{path,..}=>{let d=l.0.elapsed(); let n=std::mem::replace(&mut l.1,path.to_owned()); *l.2.entry(n).or_default()+=d; l.0=Instant::now();} p=>println!("{:?} {p:?}",t.elapsed())}};
 let run=measure(&Request{qemu:&qemu,kernel:Kernel{sha256:pathmeter_image::hash_file(&path).unwrap(),load:&load},settings:&settings,starts,paths:&paths,cache:Some(&cache),limit:Duration::from_secs(60),interrupt:&interrupt,progress:&progress});
 println!("{:?}",t.elapsed());
 let run=match run{Ok(r)=>r,Err(e)=>{println!("ERR {e} {:?} {}",e.help(),e.console().map(|c|c.to_string()).unwrap_or_default());return}};
 let l=last.lock().unwrap();
 if let Ok(f)=std::env::var("DUMP"){let mut t=String::new();for ((n,_),o) in paths.iter().zip(&run.paths){t+=&format!("{n}\t{:?}\n",o.starts);} std::fs::write(f,t).unwrap();}
 if let Ok(f)=std::env::var("RAW"){for ((n,_),o) in paths.iter().zip(&run.paths){if *n==f{for s in &o.starts{println!("{s:?}");}}}}
 for ((n,_),o) in paths.iter().zip(&run.paths){
  let mut h=std::collections::BTreeMap::new(); for s in o.starts.iter().flatten(){*h.entry(*s).or_insert(0)+=1;}
  let mut v:Vec<_>=h.into_iter().collect(); v.sort_by_key(|x|std::cmp::Reverse(x.1)); let d=v.len(); v.truncate(7);
  println!("{n:28} {:>6.1}ms {v:?} {d} {:?} {:?}",l.2.get(*n).copied().unwrap_or_default().as_secs_f64()*1e3,o.status,o.checks);
 }
}
