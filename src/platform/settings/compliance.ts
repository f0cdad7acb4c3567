import { z } from 'zod'
import { about } from './setting.ts'

/** What the operator of an installation owes to authorities, and to whoever finds a weakness. */
export const complianceSettings = {
  doraWeekendRelief: about(z.enum(['none', 'final', 'all']).default('none'), {
    meaning:
      'Whether a report of a major incident that is due on a weekend or bank holiday may wait until noon of the next working day (Delegated Regulation (EU) 2025/301, Article 5(4) to (6)). `final`: the final report only, as credit institutions and some others may. `all`: each of them.',
    allowed: 'none, final, all',
  }),
  securityContact: about(z.url({ protocol: /^(mailto|https)$/ }).optional(), {
    meaning:
      'To whom people turn who have found a weakness: `/.well-known/security.txt` names it (RFC 9116). Without it there is no such file.',
    allowed: 'mailto: and an address, or an https URL',
    otherwise: 'none',
  }),
}
