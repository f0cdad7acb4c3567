/** What stands in the way most often, by the name that the system gives it. */
const reasons: Readonly<Record<string, (doing: string) => string>> = {
  ENOENT: doing =>
    doing === 'read'
      ? 'does not exist. A name counts from the folder in which you call the command.'
      : 'cannot be written: its folder does not exist.',
  ENOTDIR: doing => `cannot be ${doing}: a part of its path is no folder.`,
  EISDIR: doing => `cannot be ${doing}: it is a folder. Name a file.`,
  EACCES: doing => `cannot be ${doing}: you lack the permission.`,
  EPERM: doing => `cannot be ${doing}: you lack the permission.`,
  EROFS: doing => `cannot be ${doing}: its disk may only be read.`,
  ENOSPC: doing => `cannot be ${doing}: the disk is full.`,
}

/** Why a file that an argument names cannot be used, in words. */
export const fileTrouble = (name: string, doing: 'read' | 'written', code: string): string =>
  `${name} ${reasons[code]?.(doing) ?? `cannot be ${doing}: ${code}`}`
