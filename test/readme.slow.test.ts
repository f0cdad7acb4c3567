import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { stepsFor } from '../src/derive/docs/quickstart.ts'
import { startTestService } from './support/harness.ts'
import { temporaryFolder } from './support/processes/folders.ts'
import { lastingPort } from './support/processes/lasting-port.ts'

const readme = readFileSync('README.md', 'utf8')
const flow = /<!-- flow -->\n```bash\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''

const service = await startTestService()
const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`

/** A folder with the instance file that `npm start` writes. */
async function aDataFolder(): Promise<string> {
  const { key: apiKey } = await service.owner()
  const folder = join(temporaryFolder(), '.data')
  mkdirSync(folder)
  writeFileSync(join(folder, 'instance.json'), JSON.stringify({ url: service.url, apiKey }, null, 2))
  return folder
}

/** The output of an interactive shell, which reads a pasted text line by line. */
async function pasted(shell: string, flags: readonly string[]): Promise<string[]> {
  const env = {
    PATH,
    HOME: temporaryFolder(),
    DATA_DIR: await aDataFolder(),
    RECEIVER: String(await lastingPort()),
  }
  const child = spawn(shell, flags, { env, stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.end(flow)
  return (await text(child.stdout)).split('\n').filter(Boolean)
}

const shells = { bash: ['--norc', '-i'], zsh: ['-f', '-i'], sh: ['-i'] }
const installed = Object.entries(shells).filter(([shell]) =>
  PATH.split(delimiter).some(folder => existsSync(join(folder, shell))),
)

describe('the first flow of the README', () => {
  test.each(installed)(
    'ends with a payment, its statement and its webhook as pasted into %s',
    async (shell, flags) => {
      const lines = await pasted(shell, flags)
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

  test('is tried in bash and sh, and has no comment, which zsh takes for a command where it is pasted', () => {
    expect(installed.map(([shell]) => shell)).toEqual(expect.arrayContaining(['bash', 'sh']))
    expect(flow).toMatch(/^told\(\)/)
    expect(flow.split('\n').filter(line => /(^|\s)#/.test(line))).toEqual([])
  })

  test('has the steps of /docs, word for word', () => {
    const [, ...steps] = stepsFor('')
    const told = steps.map(({ title, curl }, index) => `echo '${index + 1}. ${title}'\n${curl}\n`)
    expect(told.filter(step => !flow.includes(step))).toEqual([])
  })
})
