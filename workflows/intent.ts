import { defineSignal, proxyActivities, setHandler } from '@temporalio/workflow'
import type { IntentActivities } from '../activities/intents.ts'
import { type ApproverSignal, approverSignals } from '../src/control/intents/process.ts'
import type { ProcessInput } from '../src/kernel/process.ts'
import { follow } from './support.ts'

const { lookAtIntent, decideIntent, expireIntent } = proxyActivities<IntentActivities>({
  startToCloseTimeout: 30_000,
  retry: { initialInterval: 200, maximumInterval: 30_000 },
})

/** An intent waits for its approver or its deadline; an approved one for its payment or its deadline. */
export async function intent(input: ProcessInput): Promise<string> {
  const asked: { verb: ApproverSignal; payload: unknown }[] = []
  for (const verb of approverSignals)
    setHandler(defineSignal<[unknown]>(verb), payload => {
      asked.push({ verb, payload })
    })
  return follow(input, {
    look: () => lookAtIntent(input),
    due: () => expireIntent(input),
    isAsked: () => asked.length > 0,
    async attend() {
      let note: string | undefined
      for (let next = asked.shift(); next; next = asked.shift())
        note = await decideIntent({ ...input, ...next })
      return note
    },
  })
}
