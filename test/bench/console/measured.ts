import { addPerson } from '../cases/approval-cases.ts'
import { fillAgents } from '../database/intent-rows.ts'
import { fillPast } from '../database/past-intents.ts'
import { type Section, tableLine, wholeNumber } from '../report.ts'
import { usualOrShort } from '../short.ts'
import { type Stage, withClient } from '../stage.ts'
import { timesToPart, visits } from './in-browser.ts'
import { pageCosts, pageTable } from './pages.ts'
import { threeTabs } from './three-tabs.ts'

const PAGES = [
  'console',
  'console/inbox',
  'console/intents',
  'console/agents',
  'console/agents/agent_bench_1',
  'console/policies',
  'console/transactions',
  'console/wallets',
  'console/wallets/wallet_bench_1',
  'console/transfers',
  'console/accounts',
  'console/events',
  'console/deliveries',
  'console/audit',
  'console/people',
  'console/settings',
]

const PAST = usualOrShort(1_000, 200)

/** The spending follower does not run here. Otherwise each first page would add its backlog. */
const FOLLOWED = 'update spend_position set written_in = (select max(written_in) + 1 from events)'

async function fill(stage: Stage, past: number): Promise<void> {
  await fillAgents(stage)
  await fillPast(stage, past)
  await withClient(stage, async client => {
    await client.query(FOLLOWED)
    await client.query('vacuum analyze')
  })
}

export async function measureConsole(stage: Stage): Promise<Section> {
  await fill(stage, PAST)
  const { cookie } = await addPerson(stage)
  const costs = await pageCosts(stage, cookie, PAGES)
  const { first, later } = await visits(stage, cookie, PAGES)
  const part = await timesToPart(stage, cookie)
  const hour = await threeTabs(stage, cookie)
  const text = [
    ...pageTable(costs),
    '',
    tableLine(['in Chromium, on loopback', 'bytes', 'first paint ms']),
    ...[first, ...later].map(({ path, bytes, firstPaintMs }) =>
      tableLine([path, wholeNumber(bytes), wholeNumber(firstPaintMs)]),
    ),
    '',
    tableLine(['from a request to the part that shows it', 'p50 ms', 'longest ms']),
    tableLine(['console/runs', wholeNumber(part.p50), wholeNumber(part.longest)]),
    '',
    `three tabs for ${hour.minutes} minutes, ${hour.actions} pages opened: ${hour.mostRequests} requests in the busiest minute, ${hour.refused} refused with 429`,
  ].join('\n')
  return { figures: { console: { costs, first, later, part, hour } }, text }
}
