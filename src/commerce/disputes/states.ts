import { machine } from '../../kernel/contract/machine.ts'

/**
 * A card network may decide otherwise later, and its last word counts: so a decision can turn, and what was withdrawn or
 * has lapsed can still be won. A merchant that pays in the meantime wins it for the owner, too.
 */
export const disputeMachine = machine('dispute', {
  open: ['submitted', 'withdrawn', 'lapsed', 'won', 'lost'],
  submitted: ['won', 'lost', 'withdrawn'],
  won: ['lost', 'withdrawn', 'lapsed'],
  lost: ['won'],
  withdrawn: ['won'],
  lapsed: ['won'],
})
export type DisputeStatus = (typeof disputeMachine.states)[number]
