import { type CardProcessStatus, cardProcess } from '../src/cards/cards/process.ts'
import { type FollowedRecord, followRecord } from './shared/follow-record.ts'

/**
 * The processor issues the card and receives each change, until the card is closed by its owner, by its
 * expiry or after its only payment. Then its purse is emptied, and the processor closes its numbers.
 */
export const card = followRecord(cardProcess, async (record: FollowedRecord<CardProcessStatus>, steps) => {
  await record.during({ next: 'issue' }, steps.issueCard)
  await record.during({ next: 'replace' }, steps.replaceNumber)
  await record.during({ next: 'tell' }, steps.tellProcessor)
  await record.during({ next: 'end' }, steps.endCard)
  await record.during({ next: 'return' }, steps.returnPurse)
})
