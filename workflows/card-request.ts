import type { CardRequestActivities } from '../activities/card-requests.ts'
import { cardRequestSignals } from '../src/cards/card-requests/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { followRecord } from './shared/follow-record.ts'
import { answersTo } from './shared/signals.ts'
import { stepsOf } from './shared/steps.ts'

const { readCardRequest, answerCardRequest, expireCardRequest, carryOutCardRequest } =
  stepsOf<CardRequestActivities>()({
    readCardRequest: { summary: 'How the card request stands' },
    answerCardRequest: { summary: 'What an operator has signalled' },
    expireCardRequest: { summary: 'Nobody has answered in time: the request ends' },
    carryOutCardRequest: {
      summary: 'What was approved is done: the card is asked for, or the limits change',
    },
  })

/** A request is answered in time and carried out, or it expires. */
export const cardRequest = (input: ProcessInput): Promise<string> =>
  followRecord(input, {
    read: readCardRequest,
    answers: answersTo(cardRequestSignals, signalled => answerCardRequest({ ...input, ...signalled })),
    async story(record) {
      await record.during(
        ({ status }) => status === 'pending',
        () => expireCardRequest(input),
      )
      await record.during(
        ({ status }) => status === 'approved',
        () => carryOutCardRequest(input),
      )
    },
  })
