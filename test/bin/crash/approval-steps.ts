import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { clientAt } from '../../support/client.ts'
import { aTeamAsked, killThroughSteps, STORY, storyOf } from '../../support/control/killed-steps.ts'
import { bodyOf } from '../../support/factories.ts'
import { type KillableApi, killableApi } from '../../support/processes/killable-api.ts'
import { type Api, startApi } from '../../support/processes/processes.ts'

const ORIGIN = 'http://localhost'
/** Fifty, of the worker too, are in `test/workflows/step-kills.slow.test.ts`. */
const KILLS = 4

let api!: KillableApi
let another!: Api
beforeAll(async () => {
  api = await killableApi({ PUBLIC_URL: ORIGIN })
  another = await startApi(api.databaseUrl, { PUBLIC_URL: ORIGIN })
})
afterAll(() => api.stop())

const CHANNELS = `insert into channels (owner_id, mode, id, created_at, updated_at, person_id, type, language, verified_at)
  select owner_id, mode, 'channel_' || id, now(), now(), id, 'email', 'en', now() from people where owner_id = $1`
const MESSAGES =
  'select subject_id as "intentId", count(*)::int as count from channel_messages where owner_id = $1 group by 1'

describe('a kill of the API while the clock brings a reminder or the end of a step', () => {
  test('neither loses nor repeats it, and another API is in time', async () => {
    const token = await api.owner()
    const other = clientAt({ url: another.url, token })
    const { id: ownerId } = await bodyOf(other.customers.me())
    const processes = {
      ...{ databaseUrl: api.databaseUrl, sql: api.sql, origin: ORIGIN, other },
      client: () => api.client(token),
      kill: (_: string, between: () => Promise<unknown>) => api.kill(between),
    }
    const team = await aTeamAsked(ownerId, processes)
    await api.sql(CHANNELS, [ownerId])
    const { kills, intentIds, lateSeconds } = await killThroughSteps(team, processes, {
      kills: KILLS,
      killed: ['api'],
    })
    expect(kills).toBe(KILLS)
    for (const id of intentIds) expect(await storyOf(api.sql, id)).toEqual(STORY)
    expect(Math.min(...lateSeconds)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...lateSeconds)).toBeLessThanOrEqual(2)
    const [people] = await api.sql<{ count: number }>(
      'select count(*)::int from channels where owner_id = $1',
      [ownerId],
    )
    const asked = STORY.filter(event => /created|reminder|escalated/.test(event)).length
    const messages = await api.sql<{ intentId: string; count: number }>(MESSAGES, [ownerId])
    expect(Object.fromEntries(messages.map(({ intentId, count }) => [intentId, count]))).toEqual(
      Object.fromEntries(intentIds.map(id => [id, asked * Number(people?.count)])),
    )
  })
})
