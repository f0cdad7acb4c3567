import type { z } from 'zod'
import type { Context } from '../../kernel/contract/context.ts'
import { excerpt } from '../../values/schemas.ts'
import { usesOf } from '../agents/index.ts'
import type { RunEvent } from './api.ts'
import type { Run } from './run.ts'

/** The runs with what each holds and has spent, read in one statement. */
export async function withUses(runs: readonly Run[], { sql, tenant }: Pick<Context, 'sql' | 'tenant'>) {
  const uses = await usesOf(
    sql,
    tenant,
    runs.map(({ id }) => id),
  )
  return runs.map(run => Object.assign(run, uses(run.id)))
}

export async function shown(run: Run, context: Pick<Context, 'sql' | 'tenant'>) {
  const [record] = await withUses([run], context)
  return record as NonNullable<typeof record>
}

/** What the world is told of a run. */
export const about = ({
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
