/** Accepted media types, by content: a file's name and declared type prove nothing. */
export const FILE_KINDS = ['application/pdf', 'image/jpeg', 'image/png', 'image/webp'] as const
export type FileKind = (typeof FILE_KINDS)[number]

/** Null stands for a byte of the length, which may be any. */
const FIRST_BYTES: Readonly<Record<FileKind, readonly (number | null)[]>> = {
  'application/pdf': [0x25, 0x50, 0x44, 0x46, 0x2d],
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/png': [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  'image/webp': [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50],
}

export const detectFileKind = (bytes: Uint8Array): FileKind | undefined =>
  FILE_KINDS.find(kind =>
    FIRST_BYTES[kind].every((byte, at) => bytes[at] !== undefined && (byte === null || bytes[at] === byte)),
  )

/** The file name extension of each kind, so that the file opens once saved. */
export const fileExtensionOf: Readonly<Record<FileKind, string>> = {
  'application/pdf': 'pdf',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
}

const KIND_OF_ENDING: Readonly<Record<string, FileKind>> = {
  pdf: 'application/pdf',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
}

export const fileKindFromName = (name: string): FileKind | undefined =>
  KIND_OF_ENDING[name.slice(name.lastIndexOf('.') + 1).toLowerCase()]

const LONGEST_NAME = 120

/**
 * A client's file name, safe to show and send: without folders, control characters and text-direction marks,
 * and short. Null if nothing is left.
 */
export function sanitizeFileName(given: string): string | null {
  const last = given.split(/[/\\]/).at(-1) ?? ''
  const name = last
    .toWellFormed()
    .replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '')
    .trim()
  const ending = /\.[A-Za-z0-9]{1,5}$/.exec(name)?.[0] ?? ''
  const stem = [...name.slice(0, name.length - ending.length)].slice(0, LONGEST_NAME - ending.length).join('')
  return /^\.*$/.test(stem) ? null : stem + ending
}
