import { spawn } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { performance } from 'node:perf_hooks'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP']
const UNREACHABLE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT)\b/

export async function runNpm(lock, wanted) {
  const began = performance.now()
  const elapsed = () => `${Math.round((performance.now() - began) / 1000)} s`
  const text = 'Installing the packages of package-lock.json: once, half a minute as a rule'
  show(text)
  const progress = setInterval(() => show(`${text} (${elapsed()})`), process.stdout.isTTY ? 1_000 : 5_000)
  try {
    await spawnNpm(lock, argumentsFor(wanted))
  } finally {
    clearInterval(progress)
  }
  show(`Installed in ${elapsed()}`)
  if (process.stdout.isTTY) process.stdout.write('\n')
}

/** On a terminal each line replaces the one before. */
function show(text) {
  process.stdout.write(process.stdout.isTTY ? `\r\u001b[2K${text}` : `${text}\n`)
}

/** `npm ci` removes what is there first, so it would take the packages away from a service that runs here. */
const argumentsFor = ({ dev, isAddition }) => [
  ...(isAddition ? ['install', '--no-save'] : ['ci']),
  dev ? '--include=dev' : '--omit=dev',
  ...['--include=optional', '--no-audit', '--no-fund', '--loglevel=error'],
]

function spawnNpm(lock, args) {
  // npm reacts slowly to a gentler signal. An incomplete installation is repeated anyway.
  const stop = () => npm.kill('SIGKILL')
  // The handlers come before npm starts: a signal in between would end this process and leave npm running.
  for (const signal of SIGNALS) process.on(signal, stop)
  const npm = spawn('npm', args, { env: outerEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] })
  let errors = ''
  npm.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  return new Promise((resolve, reject) => {
    npm.once('spawn', () => lock.passTo(npm.pid))
    npm.once('error', error => reject(new Error(`npm cannot be run (${error.code}); it comes with Node.js.`)))
    npm.once('close', code => (code === 0 ? resolve() : reject(new Error(reason(errors)))))
  }).finally(() => {
    for (const signal of SIGNALS) process.off(signal, stop)
  })
}

/** Removes `node_modules/.bin` from the PATH, since npm replaces the Node there while it works. */
function outerEnvironment() {
  const own = join(process.cwd(), 'node_modules/.bin')
  const folders = process.env.PATH.split(delimiter).filter(folder => folder !== own)
  return { ...process.env, PATH: folders.join(delimiter) }
}

function reason(errors) {
  const lines = [...errors.matchAll(/^npm (?:error|ERR!) (.+)$/gm)].map(([, text]) => text)
  const unreachable = UNREACHABLE.exec(errors)
  if (unreachable)
    return `npm cannot reach its registry (${unreachable[1]}): check the network and try again.`
  return `npm failed: ${lines.find(line => !line.startsWith('code ')) ?? 'it was stopped.'}`
}
