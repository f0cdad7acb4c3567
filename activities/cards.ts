import type { CardSignal } from '../src/cards/cards/process.ts'
import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { decideWith, type Signalled, type SignalSettings, withSignalsThatCount } from './signals.ts'
import { type Run, readWith } from './support.ts'

/** Status of a card, and the step that is taken when its time has come. */
export interface CardStatus extends ProcessStatus {
  readonly next: 'issue' | 'replace' | 'tell' | 'return' | 'end' | null
}

/** Each of them can be made again: what has been done is found done. */
export const cardActivities = (run: Run, settings: SignalSettings) => {
  const step = (operation: string) => async (input: ProcessInput) => {
    await run(operation, { of: input, as: 'process', requestId: requestOf(input) })
  }
  return {
    async readCard(input: ProcessInput): Promise<CardStatus> {
      const status = await readWith<CardStatus>(run, 'cards.status', input, requestOf(input))
      return withSignalsThatCount(status, input, settings)
    },

    decideCard: (signalled: Signalled<CardSignal>): Promise<string> =>
      decideWith(run, settings, signalled, {
        operation: `cards.${signalled.verb}`,
        requestId: requestOf(signalled),
        body: (by, comment) => bodyOf(signalled.verb, by, comment),
      }),

    issueCard: step('cards.issue'),
    replaceNumber: step('cards.replace'),
    tellProcessor: step('cards.tell'),
    endCard: step('cards.end'),
    returnPurse: step('cards.returnPurse'),
  }
}

export type CardActivities = ReturnType<typeof cardActivities>

const requestOf = ({ id }: ProcessInput): string => `workflow:card/${id}`

function bodyOf(verb: CardSignal, by: string, comment: string | undefined): object {
  if (verb === 'unfreeze') return {}
  return { reason: comment ?? `${verb === 'freeze' ? 'Frozen' : 'Closed'} by ${by}` }
}
