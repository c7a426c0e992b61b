package cli

import (
	"github.com/spf13/cobra"
)

// newTopics returns the help topics: commands that only have a text, so that they are man pages too.
func newTopics() []*cobra.Command {
	return []*cobra.Command{
		topic("exit-codes", "What each exit code means",
			"Every command ends with one of these codes; with --json the same number stands in .error.exit.\n\n"+
				exitStatus(allCodes...)),
		topic("environment", "Environment variables and files",
			`Settings are looked up in this order: flag, environment, env file, config file, default. A secrets file
beats the environment for the keys that it holds. "mediagen config show --origin" prints every setting with
the place its value came from, and "mediagen config init --stdout" explains them all.

Keys
  OPENAI_API_KEY         key of OpenAI, or of the server that OPENAI_BASE_URL names
  OPENAI_BASE_URL        any server that keeps OpenAI's wire shape
  OPENAI_ORG_ID, OPENAI_PROJECT_ID
  AZURE_OPENAI_API_KEY, AZURE_OPENAI_ENDPOINT, OPENAI_API_VERSION, AZURE_OPENAI_DEPLOYMENT
                         switches images to Azure

Directories
  MEDIA_GEN_DIRS         comma list of allowed directories; binds the shell and MCP alike. * is one path
                         segment, ** any depth, a trailing / everything below; the first entry takes the
                         output
  MEDIA_GEN_ENV_FILE     file with NAME=value lines, read below the environment
  MEDIA_GEN_SECRETS_FILE
                         YAML file with keys
  XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME

Every other setting has a variable too: MEDIA_GEN_ plus its key in upper case, dots as underscores. An empty
variable and a literal ${...} count as unset. NO_COLOR and FORCE_COLOR are honoured; HTTPS_PROXY and NO_PROXY
apply to providers.`),
		topic("formatting", "Paths, JSON and jq",
			`Without flags, commands that make files print one path a line on stdout; -0 ends each with NUL instead.
A path below the working directory is printed relative to it. One with a line break in it is printed escaped,
with a warning; -0 and --json give every path as it is. Progress, warnings and errors go to stderr.

--json prints one object on stdout, on success and on failure alike:
  {"schema":"mediagen/1","ok":true,"command":"images generate",
   "job":{"id","state","provider","model","created"},
   "assets":[{"path","url","media_type","bytes","width","height","duration_s","sha256","index",
              "partial","spooled","no_picture","sidecar","source"}],
   "usage":{},"cost":{"amount","currency","basis"},"warnings":[],"error":null}
An asset has only the keys that mean something: "partial" numbers the partial pictures, "spooled" is true when
the file waits in the spool, "no_picture" when something else came in its place (exit 8), "sidecar" is the
file beside it, "source" the picture that a compressed copy was made of.

On failure ok is false and error is {"kind","code","message","hint","exit","provider","request_id",
"retry_after_s","billed"}; what was saved before the failure is in assets. Lists put their rows in "items". An
amount is null when it is unknown, never 0; basis is reported, estimated or unknown.

The items of images compress, one a source in their order, are
  {"source","status","path","before","after","quality","encodes","ssim","untouched","missed","notes","error"}
with status compressed, untouched or failed; before and after are {"bytes","width","height","media_type"}, and
error is {"kind","code","message","hint"} or null. Those of images inspect have "image" or "video" for what
only these have.

--jq EXPRESSION filters that object without jq being installed; strings are printed raw:
  mediagen images generate --json --jq '.assets[].path' "a red bicycle"
  mediagen jobs list --jq '.items[] | select(.state=="unknown") | .id'`),
		topic("troubleshooting", "When something goes wrong",
			`No key                 exit 3. Set OPENAI_API_KEY, or try without one: --provider emulator.
The answer was lost    exit 8. The request was sent and may be billed. It is not sent again. "mediagen jobs
                       list --state unknown" shows it with the provider's request id.
The disk was full      exit 1. The paid picture lies in the spool, and the message names it. Free some space,
                       then "mediagen jobs resume ID".
A model is gone        exit 10 on its vendor's own host, a warning on another server, which may still serve
                       it. "mediagen models list --all" names what replaces it.
Blocked                exit 5. This is final for that prompt.
Ctrl-C                 the first stops the wait and lets a paid request run to its end, the second leaves at
                       once; the job is then "unknown" in "mediagen jobs list".
A path is refused      exit 4. "mediagen policy test PATH" names the rule.
What was sent?         -vv logs each request with status and request id; --log-requests adds prompts and
                       parameters.`),
	}
}

func topic(name, short, long string) *cobra.Command {
	return &cobra.Command{Use: name, Short: short, Long: long, Args: none, Annotations: map[string]string{isTopic: "1"}}
}

// isTopic marks a command that is only a text.
const isTopic = "topic"
