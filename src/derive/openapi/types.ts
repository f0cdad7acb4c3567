export interface JsonSchema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly contentEncoding?: string
  readonly description?: string
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: boolean | JsonSchema
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly default?: unknown
  /** A default that client generators would not understand. */
  readonly 'x-default'?: unknown
  /** Other words for the choices, which are taken too. */
  readonly 'x-synonyms'?: Readonly<Record<string, string>>
  readonly examples?: readonly unknown[]
  /** Members of the example of a record that do not follow from the schemas of the members. */
  readonly 'x-example'?: unknown
  readonly pattern?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly allOf?: readonly JsonSchema[]
  /** Marks an event that is reserved (never sent) or announced (not yet sent). */
  readonly 'x-status'?: 'reserved' | 'announced'
}

export type Schemas = Readonly<Record<string, JsonSchema>>

export interface SchemaReference {
  readonly $ref: string
  readonly description?: string
}

export interface ParameterObject {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required?: boolean
  readonly description?: string
  readonly schema: JsonSchema
  readonly example?: unknown
}

export interface HeaderObject {
  readonly description?: string
  readonly schema: JsonSchema
}

export interface MediaTypeObject {
  readonly schema?: JsonSchema
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
  readonly 'x-itemSchema'?: JsonSchema
  readonly 'x-lineSchema'?: JsonSchema
}

export interface ResponseObject {
  readonly description: string
  readonly headers?: Readonly<Record<string, HeaderObject | SchemaReference>>
  readonly content?: Readonly<Record<string, MediaTypeObject>>
}

export type SecurityRequirement = Readonly<Record<string, readonly string[]>>

export interface OperationObject {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description: string
  readonly security: readonly SecurityRequirement[]
  readonly parameters?: readonly (ParameterObject | SchemaReference)[]
  readonly requestBody?: {
    readonly description?: string
    readonly required: boolean
    readonly content: Readonly<Record<string, MediaTypeObject>>
  }
  readonly responses: Readonly<Record<string, ResponseObject | SchemaReference>>
  readonly 'x-scope'?: string
  readonly 'x-events'?: readonly string[]
  readonly 'x-aliases'?: readonly string[]
  readonly 'x-payment-info'?: Readonly<Record<string, unknown>>
  /** Marks an event that is reserved (never sent) or announced (not yet sent). */
  readonly 'x-status'?: 'reserved' | 'announced'
}

export type StateMachines = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>

export interface TagObject {
  readonly name: string
  readonly description?: string
  readonly 'x-states'?: StateMachines
}

export interface SecurityScheme {
  readonly type: 'http' | 'apiKey'
  readonly description: string
  readonly scheme?: string
  readonly bearerFormat?: string
  readonly in?: 'header' | 'cookie'
  readonly name?: string
}

export interface OpenapiComponents {
  readonly schemas: Schemas
  readonly parameters: Readonly<Record<string, ParameterObject>>
  readonly headers: Readonly<Record<string, HeaderObject>>
  readonly responses: Readonly<Record<string, ResponseObject>>
  readonly securitySchemes: Readonly<Record<string, SecurityScheme>>
}

export interface OpenapiDocument {
  readonly openapi: string
  readonly info: Readonly<Record<'title' | 'version' | 'summary' | 'description', string>> & {
    readonly license: { readonly name: string; readonly identifier: string }
  }
  readonly servers: readonly { readonly url: string; readonly description: string }[]
  readonly tags: readonly TagObject[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly webhooks: Readonly<Record<string, { readonly post: OperationObject }>>
  readonly components: OpenapiComponents
}
