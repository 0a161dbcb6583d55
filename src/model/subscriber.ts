/** One person to be subscribed to a status page, as the platform takes it: all components, or those named. */
export type Subscriber = {
  readonly recipient: string
  readonly locale: string
} & (
  | { readonly all: true; readonly componentIds?: never }
  | { readonly all: false; readonly componentIds: readonly string[] }
)
