import { readFileSync } from 'node:fs'
import { printLine } from '../platform/output.ts'
import type { RunningInstance } from './instance-file.ts'
import type { ConsoleSignInLink } from './seed.ts'

/** What `npm start` prints once the service is ready. */
export function printWelcome(instance: RunningInstance, signIn: ConsoleSignInLink | null): void {
  const { url, docs, webUi, apiKey } = instance
  const rows: [string, string | null][] = [
    ['API', url],
    ['Docs', docs],
    ['Console', signIn && String(new URL('console', signIn.url))],
    ['Sandbox key', apiKey],
    ['Web UI', webUi],
    ['Temporal', temporalLine(instance)],
  ]
  const table = rows.filter(([, text]) => text !== null).map(([name, text]) => `  ${name.padEnd(13)}${text}`)
  printLine(`
The service is ready (${(performance.now() / 1000).toFixed(1)} s).

${table.join('\n')}
${waitingText(instance)}
A first request:

  curl -s ${url}/v1/policies -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '{"name":"First policy","maxTransactionEuros":50}'

Next: pay something in three minutes, ${docs}#quickstart
${signIn ? signInText(signIn) : ''}`)
}

/** The guide has the links, which are too long for a terminal. */
export const waitingText = ({ webUi, docs }: Pick<RunningInstance, 'webUi' | 'docs'>): string =>
  webUi ? `\nRuns that wait for people, in the Web UI: ${docs}/guides/temporal#find-a-run\n` : ''

const signInText = ({ url, byLink }: ConsoleSignInLink): string => `
Sign in${byLink ? ': the link works once, for a day' : ' with your passkey'}

  ${url}
${byLink ? '' : '\nWithout it: npm run agentpay -- login\n'}`

const temporalLine = ({ temporalCli, temporalAddress, temporalNamespace }: RunningInstance): string | null =>
  temporalCli &&
  `${temporalCli} workflow list --address ${temporalAddress?.replace('127.0.0.1', 'localhost')} --namespace ${temporalNamespace}`

/** On a terminal: Enter prints a new link, which replaces the last one. */
export function printLinkOnEnter(newLink: () => Promise<ConsoleSignInLink | null>): void {
  const { stdin } = process
  if (!stdin.isTTY || !process.stdout.isTTY || !isInForeground()) return
  printLine('Press Enter for a new link, Ctrl+C to stop.\n')
  stdin.on('data', async () => {
    const link = await newLink().catch(() => null)
    printLine(link ? signInText(link) : 'No link can be made at the moment. Try again.')
  })
}

/** A process in the background that reads from the terminal is stopped by the kernel. Only Linux says which it is. */
function isInForeground(): boolean {
  try {
    const [, , group, , , foreground] =
      readFileSync('/proc/self/stat', 'utf8').split(') ')[1]?.split(' ') ?? []
    return group === foreground
  } catch {
    return true
  }
}
