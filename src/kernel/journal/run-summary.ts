import { formatEuros } from '../../values/money.ts'
import type { Process, ProcessInput, ProcessRecord } from '../contract/process.ts'

/** Line of a run in Temporal's list: `Intent of € 25.00 in test mode, agent_…`. */
export function runSummary(
  { name, title = name }: Pick<Process, 'name' | 'title'>,
  mode: ProcessInput['mode'],
  { id, agentId, amountEuros, about }: ProcessRecord,
): string {
  const subject = about ?? (amountEuros === undefined ? undefined : formatEuros(amountEuros))
  const agent = agentId && agentId !== id ? `, ${agentId}` : ''
  return `${title} ${subject ? `of ${subject}` : id} in ${mode} mode${agent}`
}
