export interface OutputStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string | Uint8Array): unknown
}

export interface CommandIo {
  readonly stdin: AsyncIterable<string | Uint8Array> & { readonly isTTY?: boolean }
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly signal: AbortSignal
  wait(milliseconds: number): Promise<void>
}

export const exitCodes = { done: 0, refused: 1, usage: 2, notSignedIn: 3, notReachable: 4 } as const
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

export class CommandFailure extends Error {
  readonly exitCode: ExitCode
  readonly code: string | undefined

  constructor(exitCode: ExitCode, message: string, code?: string) {
    super(message)
    this.exitCode = exitCode
    this.code = code
  }
}

export const usageError = (message: string): CommandFailure => new CommandFailure(exitCodes.usage, message)

/** `URL.parse`, which older versions of Node do not have. */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

const reasons: Readonly<Record<string, (doing: string) => string>> = {
  ENOENT: doing =>
    doing === 'read'
      ? 'does not exist. Names are relative to the current folder.'
      : 'cannot be written: its folder does not exist.',
  ENOTDIR: doing => `cannot be ${doing}: a part of its path is not a folder.`,
  EISDIR: doing => `cannot be ${doing}: it is a folder. Name a file.`,
  EACCES: doing => `cannot be ${doing}: you lack the permission.`,
  EPERM: doing => `cannot be ${doing}: you lack the permission.`,
  EROFS: doing => `cannot be ${doing}: its disk is read-only.`,
  ENOSPC: doing => `cannot be ${doing}: the disk is full.`,
}

export const fileError = (name: string, doing: 'read' | 'written', code: string): string =>
  `${name} ${reasons[code]?.(doing) ?? `cannot be ${doing}: ${code}`}`
