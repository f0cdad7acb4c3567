import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { bodyOf } from '../../support/factories.ts'
import { startTestService } from '../../support/harness.ts'
import { busy } from '../../support/http/in-front.ts'
import { temporaryFolder } from '../../support/processes/folders.ts'
import { launch } from '../../support/processes/launched.ts'

const service = await startTestService({ own: true })
/** Each address has a rate limit: the examples wait as the refusal says. */
const url = await busy(service.url)
const example = (name: string, words: readonly string[], env: Record<string, string>) =>
  launch(process.execPath, [`examples/${name}`, ...words], env)

async function beside() {
  const { client, key } = await service.owner()
  const folderOf = (url: string): string => {
    const folder = join(temporaryFolder(), '.data')
    mkdirSync(folder)
    writeFileSync(join(folder, 'instance.json'), JSON.stringify({ url, apiKey: key }))
    return folder
  }
  return { client, DATA_DIR: folderOf(url), quiet: folderOf(service.url) }
}

describe('the examples', () => {
  test('the agent waits for the bot, pays what it approves, and the export of the bookkeeper adds up', async () => {
    const { client, DATA_DIR, quiet } = await beside()
    const scopes = ['events:read' as const, 'intents:read' as const, 'intents:approve' as const]
    const { key } = await bodyOf(
      client.keys.create({ body: { name: 'Bot', environment: 'sandbox', scopes } }),
    )
    const bot = example('approval-bot/bot.mjs', ['1'], {
      API_URL: url,
      API_KEY: String(key),
      KNOWN: '127.0.0.1',
    })
    await bot.untilOutput(/Following\./)
    // Buys at the sandbox's merchant, at the service's own address.
    const agent = example('purchasing-agent/agent.mjs', [], { DATA_DIR: quiet })
    expect([await agent.exit, agent.output()]).toEqual([
      0,
      expect.stringContaining('What you have paid for.'),
    ])
    expect(agent.output()).toContain(
      'Waiting for a decision: € 2.50 is above the auto-approve limit of € 2.00',
    )
    expect([await bot.exit, bot.output()]).toEqual([0, expect.stringContaining(': approve, done')])

    const { data } = await bodyOf(client.statements.list({}))
    expect(data).toEqual([])
    const period = new Date().toISOString().slice(0, 7)
    const folder = join(temporaryFolder(), 'books')
    const books = example('bookkeeping/export.mjs', [period, folder], { DATA_DIR })
    expect([await books.exit, books.output()]).toEqual([
      0,
      expect.stringContaining(`1 wallets in ${period}: in € 20.00, out € 2.50, left € 17.50.`),
    ])
    const [wallet] = (await bodyOf(client.wallets.list({}))).data
    for (const extension of ['csv', 'pdf', 'camt053.xml'])
      expect(existsSync(join(folder, `${wallet?.id}.${extension}`))).toBe(true)
    expect(readFileSync(join(folder, 'wallets.csv'), 'utf8')).toMatch(/^"Buyer",DE\d{20},2,0,20,2\.5,17\.5$/m)
    expect(agent.output() + bot.output() + books.output()).not.toMatch(/sk_|at_/)
  })

  test('the agent buys nothing that the bot denies, and the bot leaves to people what it does not know', async () => {
    const { client, DATA_DIR } = await beside()
    const bot = example('approval-bot/bot.mjs', ['1'], { DATA_DIR, BANNED: '127.0.0.1' })
    await bot.untilOutput(/Following\./)
    const agent = example('purchasing-agent/agent.mjs', ['https://other.example/', '3'], { DATA_DIR })
    await bot.untilOutput(/created, left to people/)
    const denied = example('purchasing-agent/agent.mjs', [], { DATA_DIR })
    expect([await denied.exit, denied.output()]).toEqual([
      1,
      expect.stringContaining('the intent is denied. 127.0.0.1 is banned.'),
    ])
    const [waiting] = (await bodyOf(client.intents.list({ query: { status: 'created' } }))).data
    await bodyOf(client.intents.deny({ params: { id: String(waiting?.id) }, body: { reason: 'No' } }))
    expect([await agent.exit, agent.output()]).toEqual([1, expect.stringContaining('is denied. No')])
  })

  test('examples name what is missing if there is no service', async () => {
    const DATA_DIR = temporaryFolder()
    const names = ['purchasing-agent/agent.mjs', 'approval-bot/bot.mjs', 'bookkeeping/export.mjs']
    for (const name of names) {
      const run = example(name, [], { DATA_DIR })
      expect([name, await run.exit, run.output()]).toEqual([name, 1, expect.stringMatching(/npm start/)])
    }
  })
})
