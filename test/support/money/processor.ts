import { sandboxFunding } from '../../../src/adapters/funding-rail/sandbox.ts'
import type { Charge, FundingRail } from '../../../src/ports/funding-rail.ts'
import type { RailCall } from '../../../src/ports/sepa-rail.ts'

/** The sandbox's processor, which records every charge; a test can replace its answers. */
export function recordingProcessor() {
  const sandbox = sandboxFunding()
  const charges: (Charge & RailCall)[] = []
  const answers: Pick<FundingRail, 'charge' | 'stateOf'> = { ...sandbox }
  const rail: FundingRail = {
    ...sandbox,
    charge(charge, call) {
      charges.push({ ...charge, ...call })
      return answers.charge(charge, call)
    },
    stateOf: (...args) => answers.stateOf(...args),
  }
  const restore = () => {
    Object.assign(answers, sandbox)
    charges.splice(0)
  }
  return { rail, charges, sandbox, answers, restore }
}
