//! How much of a command is meant when a person says "always": `git log *`, `npm run build *`, `ls *`.

/// Commands whose second word tells what they do.
const TWO: &[&str] = &[
    "bazel",
    "brew",
    "bun",
    "cargo",
    "cdk",
    "cf",
    "cmake",
    "composer",
    "consul",
    "crictl",
    "deno",
    "docker",
    "eksctl",
    "firebase",
    "flyctl",
    "git",
    "go",
    "gradle",
    "helm",
    "heroku",
    "hugo",
    "ip",
    "kind",
    "kubectl",
    "kustomize",
    "make",
    "mc",
    "minikube",
    "mongosh",
    "mysql",
    "mvn",
    "ng",
    "npm",
    "nvm",
    "nx",
    "openssl",
    "pip",
    "pipenv",
    "pnpm",
    "poetry",
    "podman",
    "psql",
    "pulumi",
    "pyenv",
    "python",
    "rake",
    "rbenv",
    "redis-cli",
    "rustup",
    "serverless",
    "skaffold",
    "sls",
    "sst",
    "swift",
    "systemctl",
    "terraform",
    "tmux",
    "turbo",
    "ufw",
    "vault",
    "vercel",
    "volta",
    "wp",
    "yarn",
];
/// Commands whose third word tells it.
const THREE: &[&str] = &[
    "aws",
    "az",
    "bun run",
    "bun x",
    "cargo add",
    "cargo run",
    "consul kv",
    "deno task",
    "doctl",
    "docker builder",
    "docker compose",
    "docker container",
    "docker image",
    "docker network",
    "docker volume",
    "eksctl create",
    "gcloud",
    "gh",
    "git config",
    "git remote",
    "git stash",
    "ip addr",
    "ip link",
    "ip netns",
    "ip route",
    "kind create",
    "kubectl kustomize",
    "kubectl rollout",
    "mc admin",
    "npm exec",
    "npm init",
    "npm run",
    "npm view",
    "openssl req",
    "openssl x509",
    "pnpm dlx",
    "pnpm exec",
    "pnpm run",
    "podman container",
    "podman image",
    "pulumi stack",
    "sfdx",
    "terraform workspace",
    "vault auth",
    "vault kv",
    "yarn dlx",
    "yarn run",
];

/// The words by which a command is known. The longest beginning that is listed decides.
pub(super) fn prefix(words: &[String]) -> &[String] {
    for end in (1..=words.len()).rev() {
        let beginning = words[..end].join(" ");
        let count = match beginning.as_str() {
            known if TWO.contains(&known) => 2,
            known if THREE.contains(&known) => 3,
            _ => continue,
        };
        return &words[..count.min(words.len())];
    }
    &words[..words.len().min(1)]
}

#[cfg(test)]
mod tests {
    use super::prefix;

    #[test]
    fn a_command_is_known_by_its_first_words() {
        for (line, known) in [
            ("git log --oneline", "git log"),
            ("git remote add x", "git remote add"),
            ("npm run build --silent", "npm run build"),
            ("npm test", "npm test"),
            ("ls -l", "ls"),
            ("frobnicate now", "frobnicate"),
            ("cargo", "cargo"),
            ("aws s3 ls x", "aws s3 ls"),
        ] {
            let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
            assert_eq!(prefix(&words).join(" "), known);
        }
        assert!(prefix(&[]).is_empty());
    }
}
