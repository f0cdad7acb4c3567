import type { CardActivities } from '../activities/cards.ts'
import { cardProcess } from '../src/cards/cards/process.ts'
import type { ProcessInput } from '../src/kernel/contract/process.ts'
import { activities, call, decision, reading } from './shared/activities.ts'
import { follow } from './shared/record-run.ts'

const { readCard, decideCard, issueCard, replaceNumber, tellProcessor, endCard, returnPurse } =
  activities<CardActivities>({
    readCard: reading('Status of the card'),
    decideCard: decision('Carry out the decision of an operator'),
    issueCard: call('Ask the processor for the card, once'),
    replaceNumber: call('Ask the processor for another number, once'),
    tellProcessor: call('Send the card’s state, limits and controls to the processor'),
    endCard: decision('Close the replaced number, or the card at its end'),
    returnPurse: decision('Return the money in the purse of the closed card'),
  })

/**
 * The processor issues the card and receives each change, until the card is closed by its owner, by its expiry or after
 * its only payment. Then its purse is emptied, and the processor closes its numbers.
 */
export async function card(ref: ProcessInput): Promise<string> {
  const record = await follow(ref, {
    process: cardProcess,
    read: readCard,
    decide: decideCard,
    signals: {
      freeze: 'Declines all payments until the card is unfrozen.',
      unfreeze: 'Unfreezes the card.',
      close: 'Closes the card permanently.',
    },
  })
  while (!record.isOver) {
    const { next, deadline } = record.state
    const [again, latest] = deadline
      ? [`, which is tried again at ${deadline}`, `, at the latest at ${deadline}`]
      : ['', '']
    if (next === 'issue') await record.waitFor(`the processor to issue it${again}`, { whenDue: issueCard })
    else if (next === 'replace')
      await record.waitFor(`the processor to issue another number${again}`, { whenDue: replaceNumber })
    else if (next === 'tell')
      await record.waitFor(`the processor to confirm its state${again}`, { whenDue: tellProcessor })
    else if (next === 'return')
      await record.waitFor(`the balance of its purse to be returned${again}`, { whenDue: returnPurse })
    else await record.waitFor(`its expiry or a change${latest}`, { whenDue: endCard })
  }
  return record.state.status
}
