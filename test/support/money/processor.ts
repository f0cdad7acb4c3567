import { sandboxFunding } from '../../../src/adapters/funding-rail/sandbox.ts'
import type { Charge, FundingRail } from '../../../src/ports/funding-rail.ts'
import type { RailCall } from '../../../src/ports/sepa-rail.ts'

/** The sandbox's processor, with every charge noted; a test may have it answer otherwise. */
export function recordingProcessor() {
  const sandbox = sandboxFunding()
  const charges: (Charge & RailCall)[] = []
  const answers: Pick<FundingRail, 'charge' | 'stateOf'> = { ...sandbox }
  const rail: FundingRail = {
    ...sandbox,
    charge(asked, call) {
      charges.push({ ...asked, ...call })
      return answers.charge(asked, call)
    },
    stateOf: (...asked) => answers.stateOf(...asked),
  }
  const mend = () => {
    Object.assign(answers, sandbox)
    charges.splice(0)
  }
  return { rail, charges, sandbox, answers, mend }
}
