import type { CustomCommand } from '../context.ts'
import { approveIntentCommand } from './approve.ts'
import { completeCommand, completionCommand } from './completion.ts'
import { doctorCommand } from './doctor.ts'
import { listenCommand } from './listen.ts'
import { loginCommand } from './login.ts'
import { logoutCommand } from './logout.ts'
import { mcpCommand } from './mcp.ts'
import { listProfilesCommand, useProfileCommand } from './profiles.ts'
import { hasReapplyProgram, reapplyDeletionsCommand } from './reapply.ts'
import { signalCommand } from './signal.ts'
import { tailEventsCommand } from './tail.ts'
import { verifyApprovalCommand } from './verify.ts'
import { verifyAuditCommand } from './verify-audit.ts'
import { versionCommand } from './version.ts'
import { waitForIntentCommand } from './wait.ts'
import { whoamiCommand } from './whoami.ts'

export const customCommands: readonly CustomCommand[] = [
  loginCommand,
  logoutCommand,
  whoamiCommand,
  doctorCommand,
  listProfilesCommand,
  useProfileCommand,
  tailEventsCommand,
  listenCommand,
  mcpCommand,
  waitForIntentCommand,
  approveIntentCommand,
  signalCommand,
  verifyApprovalCommand,
  verifyAuditCommand,
  ...(hasReapplyProgram() ? [reapplyDeletionsCommand] : []),
  completionCommand,
  completeCommand,
  versionCommand,
]
