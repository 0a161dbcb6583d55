import { html as honoHtml } from 'hono/html'

/** Text that is HTML already. Everything else that is put into a template is escaped. */
export type Html = Exclude<ReturnType<typeof honoHtml>, Promise<unknown>>

/** A template whose values are escaped unless they are `Html`. Null, undefined and booleans are nothing; arrays are joined. */
export function html(strings: TemplateStringsArray, ...values: readonly HtmlValue[]): Html {
  // It is a promise only if a value is one, which the type of `values` excludes.
  return honoHtml(strings, ...values) as Html
}

export type HtmlValue = Html | string | number | bigint | boolean | null | undefined | readonly HtmlValue[]
