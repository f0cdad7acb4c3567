import { z } from 'zod'

/** The documentation of a setting in `.env.example` and in the README. */
export interface About {
  meaning: string
  allowed: string
  /** Shown where the default is not a plain value. */
  otherwise?: string
  /** It may also stand in a file, which the variable of this name and `_FILE` names. */
  secret?: true
}

/** Says in one line which setting is wrong and what to do, and never what it holds. */
export class WrongSetting extends Error {}

const documentation = z.registry<About>()

export const about = <T extends z.ZodType>(schema: T, text: About): T => {
  documentation.add(schema, text)
  return schema
}

export const aboutOf = (schema: z.ZodType): About => documentation.get(schema) as About
