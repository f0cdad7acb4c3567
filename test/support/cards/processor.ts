import { sandboxProcessor } from '../../../src/adapters/card-processor/sandbox.ts'
import type { CardProcessor, NewCard, ProcessorCall } from '../../../src/ports/card-processor.ts'
import { deriveSecrets } from '../../../src/ports/vault.ts'
import { ENCRYPTION_KEY } from '../harness.ts'

const secretsFor = (use: string) => deriveSecrets(use, ENCRYPTION_KEY, [])

type Calls = Pick<CardProcessor, 'issue' | 'setState' | 'setControls' | 'replace'>

interface Recorded {
  readonly call: keyof Calls
  readonly reference: string
  readonly processorCardId?: string
  readonly card?: NewCard
  readonly told?: unknown
}

/** The sandbox's processor, which records every call; a test can replace its answers. */
export function recordingCardProcessor() {
  const sandbox = sandboxProcessor({
    numbers: secretsFor('sandbox card numbers'),
    messages: secretsFor('sandbox card messages'),
  })
  const calls: Recorded[] = []
  const answers: Calls = { ...sandbox }
  const processor: CardProcessor = {
    ...sandbox,
    issue(card: NewCard, call: ProcessorCall) {
      calls.push({ call: 'issue', reference: call.reference, card })
      return answers.issue(card, call)
    },
    replace(processorCardId, card, call) {
      calls.push({ call: 'replace', reference: call.reference, processorCardId, card })
      return answers.replace(processorCardId, card, call)
    },
    setState(processorCardId, state, call) {
      calls.push({ call: 'setState', reference: call.reference, processorCardId, told: state })
      return answers.setState(processorCardId, state, call)
    },
    setControls(processorCardId, controls, call) {
      calls.push({ call: 'setControls', reference: call.reference, processorCardId, told: controls })
      return answers.setControls(processorCardId, controls, call)
    },
  }
  const restore = () => {
    Object.assign(answers, sandbox)
    calls.splice(0)
  }
  return { processor, calls, answers, sandbox, restore }
}
