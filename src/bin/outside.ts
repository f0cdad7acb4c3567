import { sandboxRail } from '../adapters/sepa-rail/sandbox.ts'
import type { Mode } from '../kernel/context.ts'
import type { Outside } from '../kernel/ports.ts'
import { Problem } from '../kernel/problem.ts'
import type { Settings } from '../platform/settings.ts'

/** Which system answers in which mode. */
export function outsideOf({ sepaRail }: Pick<Settings, 'sepaRail'>): Outside {
  const sandbox = sandboxRail()
  const rails = { sandbox }
  return { sepaRail: byMode('SEPA_RAIL', sandbox, sepaRail && rails[sepaRail]) }
}

const byMode =
  <T>(setting: string, test: T, live: T | undefined) =>
  (mode: Mode): T => {
    const chosen = mode === 'test' ? test : live
    if (chosen === undefined)
      throw new Problem('not_configured', `Live mode has nothing to do this with: ${setting} is not set.`)
    return chosen
  }
