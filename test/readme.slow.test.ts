import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { quickstartSteps } from '../src/derive/docs/quickstart.ts'
import { startTestService } from './support/harness.ts'
import { temporaryFolder } from './support/processes/folders.ts'
import { lastingPort } from './support/processes/lasting-port.ts'

const readme = readFileSync('README.md', 'utf8')
const partOf = (name: string): string =>
  new RegExp(`<!-- ${name} -->\\n\`\`\`bash\\n([\\s\\S]*?)\`\`\``).exec(readme)?.[1] ?? ''

const service = await startTestService()
const quickstart = quickstartSteps(service.url)
  .map(({ curl }) => curl)
  .join('\n')
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`

/** A folder with the instance file that `npm start` writes. */
async function aDataFolder(): Promise<string> {
  const { key: apiKey } = await service.owner()
  const folder = join(temporaryFolder(), '.data')
  mkdirSync(folder)
  writeFileSync(join(folder, 'instance.json'), JSON.stringify({ url: service.url, apiKey }, null, 2))
  return folder
}

/** The output of an interactive shell, which reads pasted lines one by one. */
async function pasted(script: string, shell: string, flags: readonly string[]): Promise<string[]> {
  const env = {
    PATH,
    HOME: temporaryFolder(),
    DATA_DIR: await aDataFolder(),
    RECEIVER: String(await lastingPort()),
  }
  const child = spawn(shell, flags, { env, stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.end(script)
  return (await text(child.stdout)).split('\n').filter(Boolean)
}

const shells = { bash: ['--norc', '-i'], zsh: ['-f', '-i'], sh: ['-i'] }
const installed = Object.entries(shells).filter(([shell]) =>
  PATH.split(delimiter).some(folder => existsSync(join(folder, shell))),
)

describe('the README', () => {
  test.each(installed)(
    'pays by the script, and its commands show the payment, in %s',
    async (shell, flags) => {
      const lines = await pasted(partOf('flow') + partOf('commands'), shell, flags)
      expect(lines.slice(0, 6)).toEqual([
        expect.stringMatching(/^policy {4}policy_\w+ 50 2$/),
        expect.stringMatching(/^agent {5}agent_\w+ active Reader$/),
        expect.stringMatching(/^intent {4}intent_\w+ created 2\.5$/),
        expect.stringMatching(/^approved {2}intent_\w+ approved Go ahead$/),
        expect.stringMatching(/^paid {6}mppcredential_\w+ 200 receipt$/),
        'balance   17.5 0 ledger verified',
      ])
      // A command prints an object over several lines, from `{` to `}`.
      const answers = lines
        .slice(6)
        .join('\n')
        .split(/\n(?=\{$)/m)
      expect(answers).toHaveLength(3)
      const [intents, events, proof] = answers.map(answer => JSON.parse(answer))
      expect(intents.data).toMatchObject([{ status: 'completed', amountEuros: 2.5 }])
      expect(events.data).toMatchObject([
        { event: 'transaction.completed', data: { intentId: intents.data[0].id } },
      ])
      expect(proof).toMatchObject({ ok: true, problems: [] })
    },
  )
})

describe('the quickstart of /docs', () => {
  test.each(installed)(
    'ends with a payment, its statement and its webhook as pasted into %s',
    async (shell, flags) => {
      const lines = await pasted(quickstart, shell, flags)
      const answers = lines.filter(line => line.startsWith('{')).map(line => JSON.parse(line))
      expect(answers.filter(answer => answer.error)).toEqual([])
      const [wallet, funded, card, intent, approved, paid, balance, statement, events, proof, delivered] =
        answers
      expect([wallet.availableEuros, funded.availableEuros, card.agentId]).toEqual([100, 20, funded.agentId])
      expect([intent.status, approved.status, approved.comment]).toEqual(['created', 'approved', 'Go ahead'])
      expect(paid).toMatchObject({ merchant_status: 200, receipt: expect.any(String) })
      expect([balance.availableEuros, balance.heldEuros, statement.closingEuros]).toEqual([17.5, 0, 17.5])
      expect(events.data).toMatchObject([{ event: 'transaction.completed', data: { intentId: intent.id } }])
      expect(proof).toMatchObject({ ok: true, problems: [] })
      expect(delivered).toMatchObject({ event: 'transaction.completed', status: 204 })
      expect(lines.filter(line => line.startsWith('transaction'))).toEqual([
        'transaction.completed: € 2.50 to 127.0.0.1, completed',
      ])
    },
  )

  test('is tried in bash and sh, and has no comment, which zsh takes for a pasted command', () => {
    expect(installed.map(([shell]) => shell)).toEqual(expect.arrayContaining(['bash', 'sh']))
    expect(quickstart.split('\n').filter(line => /(^|\s)#/.test(line))).toEqual([])
  })
})
