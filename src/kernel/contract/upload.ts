import { z } from 'zod'
import type { StagedFile } from '../../ports/files.ts'
import type { FilePreview } from '../../ports/viewer.ts'
import { FILE_KINDS, type FileKind, fileKindFromName } from '../../values/file-kind.ts'
import type { RefusalSpec } from './operation.ts'
import { universalProblems } from './problem.ts'

interface FileFacts {
  readonly name: string | null
  readonly declaredType: string | null
  readonly kind: FileKind | undefined
  readonly sha256: string
  readonly size: number
}

export interface StorableFile extends Pick<FileFacts, 'sha256' | 'size'> {
  readonly kind: FileKind
  readonly staged: StagedFile | undefined
}

export interface UploadedView extends Omit<FilePreview, 'small' | 'large'> {
  readonly small: StorableFile
  readonly large: StorableFile
}

/**
 * A file of a request's body. It is whole on disk when the handler sees it, and stays only by `referenceStoredFile`.
 * After that `systems.files.open` reads its bytes: they never pass through the event loop.
 */
export class UploadedFile {
  /** The client's name for it, made harmless to show; null without one. */
  readonly name: string | null
  readonly declaredType: string | null
  readonly kind: FileKind
  readonly sha256: string
  readonly size: number
  staged: StagedFile | undefined
  view: UploadedView | undefined

  constructor({ name, declaredType, kind, sha256, size }: FileFacts) {
    this.name = name
    this.declaredType = declaredType
    this.kind = kind as FileKind
    this.sha256 = sha256
    this.size = size
  }

  /** Under an `Idempotency-Key` two files are the same where their content is. */
  toJSON(): object {
    const { name, sha256, size } = this
    return { name, sha256, size }
  }
}

export interface UploadRule {
  readonly maxMib: number
  readonly kinds: readonly FileKind[]
  /** It is decoded whole before the handler runs, and refused if that fails; its view is made then. */
  readonly viewed?: boolean
}

const MIB = 1_048_576

/** The smallest PDF by its first bytes, in Base64: it works when pasted. */
const EXAMPLE = 'JVBERi0xLjQK'

const titles: Readonly<Record<FileKind, string>> = {
  'application/pdf': 'a PDF',
  'image/jpeg': 'a JPEG',
  'image/png': 'a PNG',
  'image/webp': 'a WebP',
}

const listed = (words: readonly string[]): string =>
  words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : String(words[0])

/**
 * A file as a member of a body: a part of `multipart/form-data`, or Base64 in JSON. The handler sees an
 * `UploadedFile`; a client gives a `Blob` or Base64.
 */
export function uploadSchema({
  maxMib,
  kinds = FILE_KINDS,
  viewed = false,
  description = '',
}: Partial<UploadRule> & Pick<UploadRule, 'maxMib'> & { readonly description?: string }) {
  const wanted = listed(kinds.map(kind => titles[kind]))
  const schema = z
    .custom<UploadedFile>(value => value instanceof UploadedFile, {
      error: `must be ${wanted}: a part of multipart/form-data with a file name, or its content in Base64`,
      abort: true,
    })
    .superRefine((file, context) => {
      const problem = problemOf(file, { maxMib, kinds }, wanted)
      if (problem) context.addIssue({ code: 'custom', message: problem })
    })
    .meta({
      type: 'string',
      contentEncoding: 'base64',
      maxLength: Math.ceil((maxMib * MIB) / 3) * 4,
      upload: { maxMib, kinds, viewed },
      description: `${description}${description && ' '}${capital(wanted)}, at most ${maxMib} MiB.`,
      examples: [EXAMPLE],
    })
  return schema as unknown as z.ZodType<UploadedFile, Blob | string>
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

function problemOf(file: UploadedFile, { maxMib, kinds }: UploadRule, wanted: string): string | undefined {
  const { name, declaredType, kind, size } = file
  if (size === 0) return 'must not be empty'
  if (size > maxMib * MIB) return `must have at most ${maxMib} MiB`
  if (!kinds.includes(kind)) return `must be ${wanted}, and its first bytes say that it is not`
  const promised = [declaredType === ANY ? null : declaredType, name && fileKindFromName(name)].find(
    type => type && FILE_KINDS.some(known => known === type) && type !== kind,
  )
  return promised ? `is called ${promised}, and its first bytes say that it is ${kind}` : undefined
}

const ANY = 'application/octet-stream'

const found = new WeakMap<z.ZodType, ReadonlyMap<string, UploadRule>>()
const none: ReadonlyMap<string, UploadRule> = new Map()

export function findUploads(body: z.ZodType | undefined): ReadonlyMap<string, UploadRule> {
  if (!(body instanceof z.ZodObject)) return none
  const known = found.get(body)
  if (known) return known
  const rules = new Map(
    Object.entries<z.ZodType>(body.shape).flatMap(([name, member]) => ruleOf(name, member)),
  )
  found.set(body, rules)
  return rules
}

/** The body comes as `multipart/form-data`, or as JSON with Base64. */
export const acceptsFiles = ({ body }: { readonly body?: z.ZodType }): boolean => findUploads(body).size > 0

const forms = new WeakSet<z.ZodType>()

/** A body that comes as `application/x-www-form-urlencoded` or as JSON, for standards that prescribe it. Texts only. */
export const acceptForm = <B extends z.ZodType>(body: B): B => {
  forms.add(body)
  return body
}

export const acceptsForm = ({ body }: { readonly body?: z.ZodType }): boolean =>
  body !== undefined && forms.has(body)

export function wrongMediaTypeRefusal(operation: { readonly body?: z.ZodType }): RefusalSpec {
  const [status, message] = universalProblems.unsupported_media_type
  if (acceptsFiles(operation))
    return [
      status,
      'Send the body as multipart/form-data, or as application/json with each file in Base64; uncompressed, in UTF-8.',
    ]
  return acceptsForm(operation)
    ? [
        status,
        'Send the body as application/x-www-form-urlencoded or application/json, uncompressed, in UTF-8.',
      ]
    : [status, message]
}

/** Room for the members beside the files and the headers of a form's parts. */
const BESIDE = 131_072

export function maxUploadBytes({ body }: { readonly body?: z.ZodType }, isMultipart: boolean): number {
  const mib = [...findUploads(body).values()].reduce((sum, { maxMib }) => sum + maxMib, 0)
  return (isMultipart ? mib * MIB : Math.ceil((mib * MIB) / 3) * 4) + BESIDE
}

function ruleOf(name: string, member: z.ZodType): [string, UploadRule][] {
  const inner = member instanceof z.ZodOptional ? (member.unwrap() as z.ZodType) : member
  const rule = inner.meta()?.upload as UploadRule | undefined
  return rule ? [[name, rule]] : []
}
