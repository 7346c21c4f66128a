// German names of the parameters, by their English title in the schema. A title without a German name is shown in English.

/** @type {Record<string, string>} */
export const PARAMETERS_DE = {};
