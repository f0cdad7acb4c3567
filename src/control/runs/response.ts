import type { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import { excerpt } from '../../values/schemas.ts'
import { readBudgetUse } from '../agents/index.ts'
import type { RunEvent } from './api.ts'
import type { Run } from './run.ts'

type ReadContext = Pick<Context, 'sql' | 'tenant'>

/** Adds to each run what it holds and has spent. */
export async function runResponses(runs: readonly Run[], { sql, tenant }: ReadContext) {
  const ids = runs.map(({ id }) => id)
  const useOf = await readBudgetUse(sql, tenant, ids)
  return runs.map(run => Object.assign(run, useOf(run.id)))
}

export async function runResponse(run: Run, context: ReadContext) {
  const [record] = await runResponses([run], context)
  return record as NonNullable<typeof record>
}

/** The data of a run's event. */
export const runEvent = ({
  id,
  agentId,
  status,
  name,
  budgetEuros,
  reason,
}: Run): z.output<typeof RunEvent> => ({
  runId: id,
  agentId,
  status,
  name: excerpt(name),
  ...(budgetEuros === null ? {} : { budgetEuros }),
  ...(reason === null ? {} : { reason: excerpt(reason) }),
})
