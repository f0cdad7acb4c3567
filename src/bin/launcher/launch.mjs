// Runs on any Node, so that an old one prints a message instead of a syntax error.
const major = Number(process.versions.node.split('.')[0])

if (major >= 18) {
  void import('./tasks.mjs').then(tasks => tasks.run(process.argv[2], process.argv.slice(3)))
} else {
  process.stderr.write(`Node 18 or newer is needed; this is ${process.version}.\n`)
  process.exitCode = 1
}
