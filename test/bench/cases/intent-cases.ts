import type { Case, Request } from '../case.ts'
import { AGENTS, addWaiting, fillAgents } from '../database/intent-rows.ts'
import { approveInSql, declareInSql } from '../database/intent-sql.ts'
import type { Stage } from '../stage.ts'

/** More intents than one measurement approves. */
const WAITING = 20_000

const intent = {
  agentId: 'agent_bench_{n}',
  amountEuros: 9.5,
  merchant: 'Bookshop {each}',
  purpose: 'A paper on caching',
}

export async function intentCases(stage: Stage): Promise<Case[]> {
  await fillAgents(stage)
  const { api: server, token } = stage
  const declare = (agents: number) => ({
    server,
    request: (): Request => ({
      method: 'POST',
      path: '/intents',
      token,
      body: intent,
      keys: true,
      numbers: { from: 1, to: agents },
    }),
    sqlEquivalent: () => declareInSql(agents),
  })
  return [
    { name: 'intents', title: 'POST /intents, 1,000 agents', ...declare(AGENTS) },
    { name: 'intent', title: 'POST /intents, one hot agent', ...declare(1) },
    {
      name: 'approve',
      title: 'POST /intents/{id}/approve',
      server,
      request: async () => ({
        method: 'POST',
        path: '/intents/intent_bench_{n}/approve',
        token,
        body: {},
        keys: true,
        numbers: { ...(await addWaiting(stage, WAITING)), inOrder: true },
      }),
      sqlEquivalent: async () => approveInSql((await addWaiting(stage, WAITING)).from),
    },
  ]
}
