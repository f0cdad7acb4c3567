import type { CardActivities } from '../activities/cards.ts'
import { cardProcess, cardSignals } from '../src/cards/cards/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readCard, decideCard, issueCard, replaceNumber, tellProcessor, endCard, returnPurse } =
  stepsOf<CardActivities>()({
    readCard: { summary: 'How the card stands' },
    decideCard: { summary: 'What an operator has signalled' },
    issueCard: { summary: 'The processor is asked for the card, once' },
    replaceNumber: { summary: 'The processor is asked for another number, once' },
    tellProcessor: { summary: 'The processor is told of the card’s state, limits and controls' },
    endCard: { summary: 'What has reached its end is closed: a number that was replaced, or the card' },
    returnPurse: { summary: 'What the purse of the closed card has goes back' },
  })

/**
 * The processor issues the card and is told of each change, until the card is closed by its owner, by the end printed on it
 * or after its one payment; then its purse is emptied, and the processor closes its numbers.
 */
export const card = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    recurs: cardProcess.recurs,
    read: readCard,
    answers: answersTo(cardSignals, signalled => decideCard({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ next }) => next === 'issue',
        () => issueCard(input),
      )
      await record.during(
        ({ next }) => next === 'replace',
        () => replaceNumber(input),
      )
      await record.during(
        ({ next }) => next === 'tell',
        () => tellProcessor(input),
      )
      await record.during(
        ({ next }) => next === 'end',
        () => endCard(input),
      )
      await record.during(
        ({ next }) => next === 'return',
        () => returnPurse(input),
      )
    },
  })
