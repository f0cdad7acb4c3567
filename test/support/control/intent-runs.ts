import { aFundedAgent, anIntent, bodyOf } from '../factories.ts'
import type { TestService } from '../harness.ts'
import { type RunView, runViewer } from '../temporal/runs.ts'
import { until } from '../until.ts'

type Intent = Awaited<ReturnType<typeof anIntent>>

export async function intentRunsIn(service: TestService) {
  const temporal = await runViewer()
  const owner = await service.owner()
  const { client } = owner
  const agent = await aFundedAgent(client)
  const get = (id: string, by = client) => bodyOf(by.intents.get({ params: { id } }))

  async function aWaitingIntent(
    members: Parameters<typeof anIntent>[2] = {},
    by = client,
    agentId = agent.id,
  ): Promise<{ intent: Intent; run: RunView; params: { id: string } }> {
    const intent = await anIntent(by, agentId, members)
    const run = temporal.of(intent)
    await run.untilDetails('waits for approval')
    return { intent, run, params: { id: intent.id } }
  }

  const becomes = (id: string, status: string, by = client) =>
    until(`${id} is ${status}`, async () => (await get(id, by)).status === status)

  const auditOf = async (id: string, by = client) =>
    (await bodyOf(by.audit.list({ query: { resource: id } }))).data.map(
      ({ actorType, actorId, event }) => `${event} by ${actorType} ${actorId}`,
    )

  const eventsOf = async (id: string): Promise<string[]> => {
    const rows = await service.sql<{ event: string }>(
      `select event from events where data ->> 'intentId' = $1 order by id`,
      [id],
    )
    return rows.map(({ event }) => event)
  }

  return { temporal, owner, client, agent, get, aWaitingIntent, becomes, auditOf, eventsOf }
}
