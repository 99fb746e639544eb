list(FILTER sources EXCLUDE REGEX "/type_map\\.cpp$") # the model that tests compare with
