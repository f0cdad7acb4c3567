import type { Context } from '../../kernel/contract/context.ts'
import { Recovery } from './recovery.ts'

/** The recovery of a person that is under way. */
export const openRecoveryOf = (
  personId: string,
  { records }: Pick<Context, 'records'>,
): Promise<Recovery | null> => records.findOne(Recovery, { personId, status: { $in: ['waiting', 'ready'] } })
