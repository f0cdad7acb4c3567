import { sandboxFunding } from '../adapters/funding-rail/sandbox.ts'
import { sandboxRail } from '../adapters/sepa-rail/sandbox.ts'
import type { Mode } from '../kernel/context.ts'
import type { Outside } from '../kernel/ports.ts'
import { Problem } from '../kernel/problem.ts'
import type { Settings } from '../platform/settings.ts'

/** Which system answers in which mode. */
export function outsideOf({ sepaRail, fundingRail }: Pick<Settings, 'sepaRail' | 'fundingRail'>): Outside {
  const sepa = { sandbox: sandboxRail() }
  const funding = { sandbox: sandboxFunding() }
  return {
    sepaRail: byMode('SEPA_RAIL', sepa.sandbox, sepaRail && sepa[sepaRail]),
    fundingRail: byMode('FUNDING_RAIL', funding.sandbox, fundingRail && funding[fundingRail]),
  }
}

const byMode =
  <T>(setting: string, test: T, live: T | undefined) =>
  (mode: Mode): T => {
    const chosen = mode === 'test' ? test : live
    if (chosen === undefined)
      throw new Problem('not_configured', `Live mode has nothing to do this with: ${setting} is not set.`)
    return chosen
  }
