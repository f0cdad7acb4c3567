import { sandboxFundingRail } from '../../../src/adapters/funding-rail/sandbox.ts'
import type { FundingCharge, FundingRail } from '../../../src/ports/funding-rail.ts'
import type { SepaRailCall } from '../../../src/ports/sepa-rail.ts'

/** The sandbox's processor, which records every charge; a test can replace its answers. */
export function recordingProcessor() {
  const sandbox = sandboxFundingRail()
  const charges: (FundingCharge & SepaRailCall)[] = []
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
