import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Page } from 'playwright-core'
import { node, serve } from '../child.ts'
import { usualOrShort } from '../short.ts'
import { bearer, post, type Stage } from '../stage.ts'
import { atOwnHost, withBrowser } from './in-browser.ts'

const TABS = 3
/** Each minute has a limit of its own, and the minutes are alike: an hour is that many of these. */
const MINUTES = usualOrShort(3, 0.2)
const ACT_EVERY_MS = 5_000
const EVENT_EVERY_MS = 500

const PLACES = ['', '/inbox', '/agents', '/intents', '/transactions', '/wallets', '/events', '/deliveries']

export interface Hour {
  readonly minutes: number
  readonly actions: number
  /** Requests that count towards the limit, in the busiest minute. */
  readonly mostRequests: number
  readonly refused: number
}

/**
 * An owner with three windows, who opens another page every five seconds, while agents do something twice a
 * second. The service has the contract's limit: a hundred requests a minute from an address.
 */
export async function threeTabs(stage: Stage, cookie: string): Promise<Hour> {
  const env = { ...stage.env, RATE_LIMIT_PER_MINUTE: '100' }
  const limited = await serve(node('test/bench/server.ts'), join(stage.folder, 'limited.log'), env)
  stage.closeLater(limited.stop)
  const requests: number[] = []
  let refused = 0
  const watch = (page: Page) =>
    page.on('response', response => {
      if (response.status() === 429) refused++
      if (response.headers()['x-ratelimit-limit']) requests.push(performance.now())
    })
  return withBrowser(limited.url, cookie, async context => {
    const tabs = await Promise.all(Array.from({ length: TABS }, () => context.newPage()))
    tabs.forEach(watch)
    const end = performance.now() + MINUTES * 60_000
    const agents = busyAgents(stage, end)
    let actions = 0
    for (; performance.now() < end; actions++) {
      const tab = tabs[actions % TABS] as Page
      await tab.goto(`${atOwnHost(limited.url)}/console${PLACES[actions % PLACES.length]}`)
      await pause(ACT_EVERY_MS)
    }
    await agents
    return { minutes: MINUTES, actions, mostRequests: mostInAMinute(requests), refused }
  })
}

async function busyAgents(stage: Stage, end: number): Promise<void> {
  for (let n = 1; performance.now() < end; n++) {
    const intent = { agentId: 'agent_bench_1', amountEuros: 9, merchant: `Shop ${n}`, purpose: 'A paper' }
    await post(stage.api, '/intents', intent, bearer(stage))
    await pause(EVENT_EVERY_MS)
  }
}

const mostInAMinute = (times: readonly number[]): number =>
  Math.max(0, ...times.map(from => times.filter(at => at >= from && at < from + 60_000).length))
