import type { CustomCommand } from '../context.ts'
import { approveIntent } from './approve.ts'
import { complete, completion } from './completion.ts'
import { doctor } from './doctor.ts'
import { listen } from './listen.ts'
import { login } from './login.ts'
import { logout } from './logout.ts'
import { serveAssistant } from './mcp.ts'
import { listProfiles, useProfile } from './profiles.ts'
import { reapplyDeletions } from './reapply.ts'
import { signal } from './signal.ts'
import { tailEvents } from './tail.ts'
import { verify } from './verify.ts'
import { verifyAuditExport } from './verify-audit.ts'
import { version } from './version.ts'
import { waitForIntent } from './wait.ts'
import { whoami } from './whoami.ts'

export const customCommands: readonly CustomCommand[] = [
  login,
  logout,
  whoami,
  doctor,
  listProfiles,
  useProfile,
  tailEvents,
  listen,
  serveAssistant,
  waitForIntent,
  approveIntent,
  signal,
  verify,
  verifyAuditExport,
  reapplyDeletions,
  completion,
  complete,
  version,
]
